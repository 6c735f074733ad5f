/* Chooses the fastest build of the kernel that this processor can run. */

#include "step.h"

typedef void Sizes(const Task *, int64_t *, int64_t *);
typedef void Run(const Task *, float *, int64_t, int64_t, int64_t, const Moment *);

Sizes sizes_base;
Run run_base;
#ifdef WITH_AVX2
Sizes sizes_avx2;
Run run_avx2;
#endif
#ifdef WITH_AVX512
Sizes sizes_avx512;
Run run_avx512;
#endif

static int level(void)
{
#ifdef WITH_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return 2;
#endif
#ifdef WITH_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return 1;
#endif
    return 0;
}

/* The digest of the sources that this was compiled from. */
const char *hideseek_sources(void) { return SOURCES; }

/* The number of instruction sets that can be asked for here, the plainest first. */
int hideseek_levels(void) { return level() + 1; }

/* Floats of a member's moments, and of the room in which a thread works, at a level below hideseek_levels(). */
void hideseek_sizes(int level, const Task *task, int64_t *moment_floats, int64_t *room_floats)
{
#ifdef WITH_AVX512
    if (level == 2) {
        sizes_avx512(task, moment_floats, room_floats);
        return;
    }
#endif
#ifdef WITH_AVX2
    if (level == 1) {
        sizes_avx2(task, moment_floats, room_floats);
        return;
    }
#endif
    sizes_base(task, moment_floats, room_floats);
}

/* Do some steps of one member. */
void hideseek_run(int level, const Task *task, float *room, int64_t member, int64_t done, int64_t n_steps,
                  const Moment *moments)
{
#ifdef WITH_AVX512
    if (level == 2) {
        run_avx512(task, room, member, done, n_steps, moments);
        return;
    }
#endif
#ifdef WITH_AVX2
    if (level == 1) {
        run_avx2(task, room, member, done, n_steps, moments);
        return;
    }
#endif
    run_base(task, room, member, done, n_steps, moments);
}
