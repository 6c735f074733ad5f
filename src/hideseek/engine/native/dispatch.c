/* Chooses the build of the kernels for an instruction set. */

#include "step.h"

typedef void Sizes(const Task *, int64_t *, int64_t *, int64_t *);
typedef void Run(const Task *, float *, int64_t, int64_t, int64_t, const Moment *);
typedef void Learn(const Task *, float *, int64_t, int64_t, int64_t, int64_t, const Moment *, float *);
typedef void Move(const Task *, float *, int64_t, int64_t, const float *, const Moment *);
typedef void Pack(const Task *, float *, float *);
typedef void Ask(const Task *, const Question *, float *);

typedef struct {
    Sizes *sizes;
    Run *run;
    Learn *learn;
    Move *move;
    Pack *pack;
    Ask *masks, *entries, *outputs;
} Build;

#define DECLARED(set) \
    Sizes sizes_##set; \
    Run run_##set; \
    Learn learn_##set; \
    Move move_##set; \
    Pack pack_##set; \
    Ask masks_##set, entries_##set, outputs_##set;
#define BUILD(set) {sizes_##set, run_##set, learn_##set, move_##set, pack_##set, masks_##set, entries_##set, outputs_##set}

DECLARED(base)
#ifdef WITH_AVX2
DECLARED(avx2)
#endif
#ifdef WITH_AVX512
DECLARED(avx512)
#endif

static const Build builds[] = {
    BUILD(base),
#ifdef WITH_AVX2
    BUILD(avx2),
#ifdef WITH_AVX512
    BUILD(avx512),
#endif
#endif
};

/* The digest of the sources that this was compiled from. */
const char *hideseek_sources(void) { return SOURCES; }

/* The number of instruction sets that can be asked for here, the plainest first. */
int hideseek_levels(void)
{
    int levels = 1;
#ifdef WITH_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        levels = 2;
#ifdef WITH_AVX512
    if (levels == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        levels = 3;
#endif
#endif
    return levels;
}

/* Floats of a member's weights, of a part of its batch, and of the room in which a thread works, at a level below
 * hideseek_levels(). */
void hideseek_sizes(int level, const Task *task, int64_t *weights, int64_t *part, int64_t *room)
{
    builds[level].sizes(task, weights, part, room);
}

/* Do some steps of one member. */
void hideseek_run(int level, const Task *task, float *room, int64_t member, int64_t done, int64_t n_steps,
                  const Moment *moments)
{
    builds[level].run(task, room, member, done, n_steps, moments);
}

/* Fill one of the parts of a member's batch: the gradient, the loss and the masks of its rows. */
void hideseek_learn(int level, const Task *task, float *room, int64_t member, int64_t step, int64_t number,
                    int64_t n_parts, const Moment *moment, float *part)
{
    builds[level].learn(task, room, member, step, number, n_parts, moment, part);
}

/* Do a step of one member from the parts of its batch. */
void hideseek_move(int level, const Task *task, float *room, int64_t member, int64_t n_parts, const float *parts,
                   const Moment *moment)
{
    builds[level].move(task, room, member, n_parts, parts, moment);
}

/* Prepare the weights of all members for questions. */
void hideseek_pack(int level, const Task *task, float *room, float *packed) { builds[level].pack(task, room, packed); }

/* Fill the mean mask of each row. */
void hideseek_masks(int level, const Task *task, const Question *question, float *room)
{
    builds[level].masks(task, question, room);
}

/* Fill the logarithm of the highest price at which each feature of each row is selected. */
void hideseek_entries(int level, const Task *task, const Question *question, float *room)
{
    builds[level].entries(task, question, room);
}

/* Fill the mean of the Seeks' outputs for each row, which sees what is shown of it. */
void hideseek_outputs(int level, const Task *task, const Question *question, float *room)
{
    builds[level].outputs(task, question, room);
}
