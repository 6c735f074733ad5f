/* Chooses the build of the kernels for an instruction set. */

#include "step.h"

typedef void Sizes(const Task *, int64_t *, int64_t *);
typedef void Run(const Task *, float *, int64_t, int64_t, int64_t, const Moment *);
typedef void Gradient(const Task *, float *, int64_t, int64_t, int64_t, float, float *);
typedef void Move(const Task *, float *, int64_t, int64_t, const float *, const Moment *);
typedef void Pack(const Task *, float *, float *);
typedef void Ask(const Task *, const Question *, float *);

typedef struct {
    Sizes *sizes;
    Run *run;
    Gradient *gradient;
    Move *move;
    Pack *pack;
    Ask *masks, *entries, *outputs;
} Build;

#define DECLARED(set) \
    Sizes sizes_##set; \
    Run run_##set; \
    Gradient gradient_##set; \
    Move move_##set; \
    Pack pack_##set; \
    Ask masks_##set, entries_##set, outputs_##set;
#define BUILD(set) {sizes_##set, run_##set, gradient_##set, move_##set, pack_##set, masks_##set, entries_##set, outputs_##set}

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

/* Floats of a member's moments, and of the room in which a thread works, at a level below hideseek_levels(). */
void hideseek_sizes(int level, const Task *task, int64_t *moment_floats, int64_t *room_floats)
{
    builds[level].sizes(task, moment_floats, room_floats);
}

/* Do some steps of one member. */
void hideseek_run(int level, const Task *task, float *room, int64_t member, int64_t done, int64_t n_steps,
                  const Moment *moments)
{
    builds[level].run(task, room, member, done, n_steps, moments);
}

/* Fill the gradient of some blocks of a member's rows; the blocks of all steps are numbered through. */
void hideseek_gradient(int level, const Task *task, float *room, int64_t member, int64_t first, int64_t n_blocks,
                       float share, float *gradient)
{
    builds[level].gradient(task, room, member, first, n_blocks, share, gradient);
}

/* Do a step of one member with the sum of these gradients. */
void hideseek_move(int level, const Task *task, float *room, int64_t member, int64_t n_parts, const float *gradients,
                   const Moment *moment)
{
    builds[level].move(task, room, member, n_parts, gradients, moment);
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
