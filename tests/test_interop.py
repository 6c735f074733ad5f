import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import shap

from hideseek import Explanation, InputError

PLOTS = {
    "bar": shap.plots.bar,
    "bar of a row": lambda values, **how: shap.plots.bar(values[0], **how),
    "beeswarm": shap.plots.beeswarm,
    "violin": shap.plots.violin,
    "scatter": lambda values, **how: shap.plots.scatter(values[:, "b"], **how),
    "heatmap": shap.plots.heatmap,
}
ADDING_UP = {
    "waterfall": lambda values: shap.plots.waterfall(values[0], show=False),
    "force": lambda values: shap.plots.force(values[0], show=False),
    "force of all": shap.plots.force,
    "decision": lambda values: shap.plots.decision(values.base_values, values.values, show=False),
}


@pytest.fixture(scope="module")
def explanation():
    rng = np.random.default_rng(0)
    masks = rng.random((20, 3)).astype(np.float32)
    return Explanation(masks, masks > 0.5, data=rng.normal(size=(20, 3)), feature_names=list("abc"))


def test_masks_values_and_names_come_along(explanation):
    values = explanation.to_shap()
    np.testing.assert_array_equal(values.values, explanation.importance)
    np.testing.assert_array_equal(values.data, explanation.data)
    assert values.feature_names == ["a", "b", "c"]
    np.testing.assert_array_equal(values[3:5, "b"].values, explanation.importance[3:5, 1])
    np.testing.assert_allclose(values.abs.mean(0).values, explanation.importance.mean(axis=0), rtol=1e-6)
    assert "not additive" in repr(values.base_values)


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_plots_that_show_importance_work(explanation, name):
    PLOTS[name](explanation.to_shap(), show=False)
    assert plt.gcf().axes
    plt.close("all")


@pytest.mark.parametrize("name", ADDING_UP)
def test_plots_that_add_up_are_refused_with_the_reason(explanation, name):
    with pytest.raises(InputError, match=r"'mask' does not add up .* use bar, beeswarm"):
        ADDING_UP[name](explanation.to_shap())
    plt.close("all")


def test_without_values_there_are_still_bars(explanation):
    bare = Explanation(explanation.importance, explanation.selected).to_shap()
    shap.plots.bar(bare, show=False)
    plt.close("all")
    assert bare.feature_names == ["x1", "x2", "x3"]


def test_a_missing_library_is_named(explanation, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ModuleNotFoundError, match=r"hideseek\[compare\]"):
        explanation.to_shap()


@pytest.fixture(scope="module")
def effects(switch, model):
    return model.explain(switch[0][:30])


def test_effects_are_served_to_plots_that_need_a_sign(effects):
    values = effects.to_shap("effect")
    np.testing.assert_array_equal(values.values, effects.effect)
    np.testing.assert_allclose(values.base_values + values.values.sum(axis=1), effects.probability, atol=1e-6)
    assert "do not add up" in str(values.output_names)
    shap.plots.waterfall(values[0], show=False)
    shap.plots.beeswarm(effects.to_shap("effect", of=1), show=False)
    plt.close("all")


def test_effects_can_be_those_on_a_given_class(effects):
    values = effects.to_shap("effect", of=1)
    np.testing.assert_array_equal(values.values, effects.effect_of(1))
    of_one = effects.model.predict_proba(effects.data)[:, 1]
    np.testing.assert_allclose(values.base_values + values.values.sum(axis=1), of_one, atol=1e-6)
    with pytest.raises(InputError, match="values='sum'"):
        effects.to_shap("sum")
