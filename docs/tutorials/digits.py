"""
Digits as patches
=================

Handwritten threes and eights of 28 x 28 pixels. One pixel says little, so 4 x 4 pixels are made one feature with
``groups``: a patch is shown or hidden as a whole. Which patches tell a three from an eight?

Takes about 40 seconds on one CPU core. The images are downloaded once (``pip install 'hideseek[data,plot]'``), or read
from the folder that ``HIDESEEK_DATA`` names.
"""

# %%
# The images
# ----------

import warnings

import matplotlib.pyplot as plt
import numpy as np

from hideseek.datasets import load_mnist_3_8
from hideseek.errors import HideSeekWarning

warnings.simplefilter("ignore", HideSeekWarning)  # pixels at the border are the same in all images, which fit warns of

split = load_mnist_3_8(standardize=False)
X, y = split.train.X, split.train.y
X_new, y_new = split.test.X, split.test.y
print(X.shape, X_new.shape)

# %%
# Patches as features
# -------------------
# Pixel number of row r and column c is 28 r + c.

SIDE, PATCH = 28, 4
grid = range(0, SIDE, PATCH)
patches = {
    f"patch {r // PATCH},{c // PATCH}": [SIDE * (r + i) + c + j for i in range(PATCH) for j in range(PATCH)]
    for r in grid
    for c in grid
}

from hideseek import HideSeekClassifier

model = HideSeekClassifier("fast", groups=patches, random_state=0).fit(X[:4000], y[:4000])
explanation = model.explain(X_new)
print(explanation)
print(f"accuracy from the selected patches {model.score(X_new, y_new):.3f}")

# %%
# Single digits
# -------------
# The shade over a digit is the mask of its patches. What decides is the lower left, where an eight closes its loop and
# a three does not.

figure, axes = plt.subplots(2, 4, figsize=(9, 4.8), layout="constrained")
chosen = [*np.flatnonzero(y_new == 3)[:4], *np.flatnonzero(y_new == 8)[:4]]
for ax, row in zip(axes.flat, chosen, strict=True):
    mask = explanation.importance[row].reshape(len(grid), len(grid)).repeat(PATCH, 0).repeat(PATCH, 1)
    ax.imshow(X_new[row].reshape(SIDE, SIDE), cmap="gray_r")
    ax.imshow(mask, cmap="Blues", alpha=0.5, vmin=0, vmax=1)
    ax.set(title=f"a {y_new[row]}, read as {explanation.prediction[row]}", xticks=[], yticks=[])
plt.show()

# %%
# Over all digits
# ---------------

figure, axes = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
for ax, digit in zip(axes, (3, 8), strict=True):
    share = explanation.selected[y_new == digit].mean(axis=0).reshape(len(grid), len(grid))
    image = ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    ax.set(title=f"{digit}s", xticks=[], yticks=[])
figure.colorbar(image, ax=axes, label="share of images in which the patch decides")
plt.show()

# %%
# Single pixels
# -------------
# Without groups each pixel is a feature. ``plot.image`` draws the pixels of one image, and the patches in which they
# are densest; ``metrics.best_patches`` finds these for all images, as in the paper.

varies = X.std(axis=0) > 0
by_pixel = HideSeekClassifier("fast", random_state=0).fit(X[:4000, varies], y[:4000])
from hideseek import Explanation

masks = np.zeros((200, SIDE * SIDE))
masks[:, varies] = by_pixel.explain(X_new[:200, varies]).importance
pixels = Explanation(masks, masks > 0.5, data=X_new[:200])
pixels.plot.image(0, shape=(SIDE, SIDE), n_patches=2)
