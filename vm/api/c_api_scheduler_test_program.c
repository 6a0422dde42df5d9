/* A scheduler as a C program uses it. Each function returns NULL when all went well, else what did
 * not. The bytes are those of a program whose main(n) gives n after so many turns. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/api/c_api_scheduler.h"

#define EXPECT(condition)                \
  do {                                   \
    if (!(condition)) return #condition; \
  } while (0)

enum { kRuns = 100 };

struct tally {
  atomic_int results, failures, last_code;
  atomic_llong sum;
};
static void Complete(void* context, relayvm_status* status, relayvm_value* result) {
  struct tally* tally = context;
  if (status != NULL) {
    tally->last_code = relayvm_status_code(status);
    ++tally->failures;
  } else {
    tally->sum += *(const int64_t*)relayvm_value_data(result);
    ++tally->results;
  }
  relayvm_status_free(status);
  relayvm_value_free(result);
}

/* A result whose only tensor has a buffer is none. */
static void CountOnly(void* context, relayvm_status* status, relayvm_value* result) {
  struct tally* tally = context;
  ++*(status != NULL ? &tally->failures : &tally->results);
  relayvm_status_free(status);
  relayvm_value_free(result);
}

/* The handle is there before the completion. */
struct handled {
  relayvm_run* run;
  atomic_int with_id, ended;
};
static void SeeHandle(void* context, relayvm_status* status, relayvm_value* result) {
  struct handled* handled = context;
  if (handled->run != NULL && relayvm_run_id(handled->run) != 0) ++handled->with_id;
  relayvm_status_free(status);
  relayvm_value_free(result);
  ++handled->ended;
}

/* A host's executor: jobs that wait for RunJobs. */
static struct {
  relayvm_job job[8];
  void* context[8];
  int count;
} jobs;
static int releases = 0;
static void PostJob(void* user, relayvm_job job, void* context) {
  (void)user;
  jobs.job[jobs.count] = job;
  jobs.context[jobs.count++] = context;
}
static void PostJobAt(void* user, int64_t time_ns, relayvm_job job, void* context) {
  (void)time_ns;
  PostJob(user, job, context);
}
static void CountRelease(void* user) {
  (void)user;
  ++releases;
}
static void RunJobs(void) {
  while (jobs.count > 0) {
    --jobs.count;
    jobs.job[jobs.count](jobs.context[jobs.count]);
  }
}
static relayvm_run_report last_report;
static void SeeReport(void* user, const relayvm_run_report* report) {
  *(relayvm_run_report*)user = *report;
}

static int CodeOf(relayvm_status* status) {
  const int code = relayvm_status_code(status);
  relayvm_status_free(status);
  return code;
}

const char* RunSchedulerProgram(const void* bytes, size_t size);
const char* RunSchedulerProgram(const void* bytes, size_t size) {
  relayvm_runtime* runtime = NULL;
  relayvm_executable* program = NULL;
  relayvm_scheduler* scheduler = NULL;
  EXPECT(relayvm_runtime_create(NULL, &runtime) == NULL);
  EXPECT(relayvm_executable_load_memory(bytes, size, NULL, &program) == NULL);
  relayvm_scheduler_options options = {.struct_size = sizeof options, .num_threads = 2};
  EXPECT(relayvm_scheduler_create(runtime, &options, &scheduler) == NULL);
  relayvm_runtime_free(runtime); /* the scheduler keeps it */

  struct tally tally = {0, 0, 0, 0};
  const int64_t few = 10, endless = INT64_MAX;
  relayvm_value *some = NULL, *many = NULL;
  EXPECT(relayvm_value_tensor(RELAYVM_INT64, NULL, 0, &few, &some) == NULL);
  EXPECT(relayvm_value_tensor(RELAYVM_INT64, NULL, 0, &endless, &many) == NULL);
  for (int i = 0; i < kRuns; ++i) {
    EXPECT(relayvm_scheduler_run(scheduler, program, "main", &some, 1, NULL, Complete, &tally,
                                 NULL) == NULL);
  }
  while (tally.results < kRuns) {
  }
  EXPECT(tally.sum == kRuns * few && tally.failures == 0);

  for (int i = 0; i < kRuns; ++i) {
    struct handled handled = {NULL, 0, 0};
    EXPECT(relayvm_scheduler_run(scheduler, program, "main", &some, 1, NULL, SeeHandle, &handled,
                                 &handled.run) == NULL);
    while (handled.ended == 0) {
    }
    EXPECT(handled.with_id == 1);
    relayvm_run_free(handled.run);
  }

  /* Into a buffer of the caller's. */
  int64_t landed = 0;
  const relayvm_output output = {&landed, NULL, 0, RELAYVM_INT64};
  relayvm_run_options into = {.struct_size = sizeof into, .outputs = &output, .num_outputs = 1};
  struct tally empty = {0, 0, 0, 0};
  EXPECT(relayvm_scheduler_run(scheduler, program, "main", &some, 1, &into, CountOnly, &empty,
                               NULL) == NULL);
  while (empty.results + empty.failures == 0) {
  }
  EXPECT(empty.failures == 0 && landed == few);
  into.outputs = NULL;
  EXPECT(CodeOf(relayvm_scheduler_run(scheduler, program, "main", &some, 1, &into, CountOnly,
                                      &empty, NULL)) == RELAYVM_INVALID_ARGUMENT);
  relayvm_scheduler_options all = {.struct_size = sizeof all, .num_threads = RELAYVM_ALL_THREADS};
  relayvm_scheduler* wide = NULL;
  relayvm_runtime* one = NULL;
  EXPECT(relayvm_runtime_create(NULL, &one) == NULL);
  EXPECT(relayvm_scheduler_create(one, &all, &wide) == NULL);
  relayvm_scheduler_free(wide);
  relayvm_runtime_free(one);

  /* A run that is cancelled, and one whose time is over. */
  relayvm_run* run = NULL;
  EXPECT(relayvm_scheduler_run(scheduler, program, "main", &many, 1, NULL, Complete, &tally,
                               &run) == NULL);
  EXPECT(relayvm_run_id(run) == 2 * kRuns + 2);
  relayvm_run_cancel(run);
  while (tally.failures < 1) {
  }
  EXPECT(tally.last_code == RELAYVM_CANCELLED);
  relayvm_run_free(run);
  relayvm_invocation_options limits = {.struct_size = sizeof limits, .timeout_ns = 3600000000000};
  relayvm_run_options soon = {.struct_size = sizeof soon,
                              .priority = RELAYVM_PRIORITY_HIGH,
                              .deadline_ns = 1000000,
                              .invocation = &limits};
  EXPECT(relayvm_scheduler_run(scheduler, program, "main", &many, 1, &soon, Complete, &tally,
                               NULL) == NULL);
  while (tally.failures < 2) {
  }
  EXPECT(tally.last_code == RELAYVM_DEADLINE_EXCEEDED);

  /* What is wrong with the run itself goes to the completion; with its options, to the caller. */
  EXPECT(relayvm_scheduler_run(scheduler, program, "none", NULL, 0, NULL, Complete, &tally, NULL) ==
         NULL);
  while (tally.failures < 3) {
  }
  EXPECT(tally.last_code == RELAYVM_NOT_FOUND);
  soon.priority = 3;
  EXPECT(CodeOf(relayvm_scheduler_run(scheduler, program, "main", &some, 1, &soon, Complete, &tally,
                                      NULL)) == RELAYVM_INVALID_ARGUMENT);
  soon.priority = 0;
  soon.deadline_ns = -1;
  EXPECT(CodeOf(relayvm_scheduler_run(scheduler, program, "main", &some, 1, &soon, Complete, &tally,
                                      NULL)) == RELAYVM_INVALID_ARGUMENT);
  soon.struct_size = 4;
  EXPECT(CodeOf(relayvm_scheduler_run(scheduler, program, "main", &some, 1, &soon, Complete, &tally,
                                      NULL)) == RELAYVM_INVALID_ARGUMENT);

  /* By name, in groups, with a tag. */
  relayvm_run_group *tenant = NULL, *model = NULL;
  const relayvm_run_group_options one_at_once = {.struct_size = sizeof one_at_once,
                                                 .max_active = 1};
  EXPECT(relayvm_scheduler_make_group(scheduler, &one_at_once, &tenant) == NULL);
  EXPECT(relayvm_scheduler_make_group(scheduler, NULL, &model) == NULL);
  const char* names[] = {"x0"};
  limits.tag = 77;
  relayvm_run_options named = {.struct_size = sizeof named,
                               .invocation = &limits,
                               .tenant = tenant,
                               .model = model,
                               .input_names = names};
  const int before = tally.results;
  for (int i = 0; i < 3; ++i)
    EXPECT(relayvm_scheduler_run(scheduler, program, "main", &some, 1, &named, Complete, &tally,
                                 NULL) == NULL);
  while (tally.results < before + 3) {
  }
  names[0] = "x1";
  EXPECT(CodeOf(relayvm_scheduler_run(scheduler, program, "main", &some, 1, &named, Complete,
                                      &tally, NULL)) == RELAYVM_INVALID_ARGUMENT);
  relayvm_run_group_stats of_tenant = {.struct_size = sizeof of_tenant};
  EXPECT(relayvm_scheduler_get_group_stats(scheduler, tenant, &of_tenant) == NULL);
  EXPECT(of_tenant.accepted == 3 && of_tenant.ended[RELAYVM_OK] == 3);
  EXPECT(of_tenant.latency.count == 3 && of_tenant.queue_time.count == 3);
  relayvm_run_group_free(tenant);
  relayvm_run_group_free(model);

  relayvm_scheduler_stats stats = {.struct_size = sizeof stats};
  EXPECT(relayvm_scheduler_get_stats(scheduler, &stats) == NULL);
  EXPECT(stats.accepted == 2 * kRuns + 7 && stats.ended[RELAYVM_OK] == 2 * kRuns + 4);
  EXPECT(stats.ended[RELAYVM_CANCELLED] == 1 && stats.ended[RELAYVM_NOT_FOUND] == 1);
  EXPECT(stats.batches == 0 && stats.batched_calls == 0 && stats.lone_calls == 0);
  /* A caller of the first version has room for less. */
  stats.struct_size = offsetof(relayvm_scheduler_stats, batches);
  stats.batches = 123;
  EXPECT(relayvm_scheduler_get_stats(scheduler, &stats) == NULL && stats.batches == 123);
  stats.struct_size = 0;
  EXPECT(CodeOf(relayvm_scheduler_get_stats(scheduler, &stats)) == RELAYVM_INVALID_ARGUMENT);

  EXPECT(stats.latency.count == stats.accepted && stats.latency.sum_ns > 0);

  /* On threads of the host: here those that call RunJobs. */
  relayvm_executor executor = {sizeof executor, &jobs, PostJob, PostJobAt, CountRelease};
  relayvm_scheduler_options hosted = {.struct_size = sizeof hosted,
                                      .executor = &executor,
                                      .on_end = SeeReport,
                                      .on_end_user = &last_report};
  relayvm_scheduler* on_host = NULL;
  relayvm_runtime* small = NULL;
  EXPECT(relayvm_runtime_create(NULL, &small) == NULL);
  executor.post_at = NULL;
  EXPECT(CodeOf(relayvm_scheduler_create(small, &hosted, &on_host)) == RELAYVM_INVALID_ARGUMENT);
  EXPECT(releases == 0);
  executor.post_at = PostJobAt;
  EXPECT(relayvm_scheduler_create(small, &hosted, &on_host) == NULL);
  named.tenant = named.model = NULL;
  named.input_names = NULL;
  struct tally on_threads = {0, 0, 0, 0};
  EXPECT(relayvm_scheduler_run(on_host, program, "main", &some, 1, &named, Complete, &on_threads,
                               NULL) == NULL);
  EXPECT(on_threads.results == 0 && jobs.count == 1);
  RunJobs();
  EXPECT(on_threads.results == 1 && jobs.count == 0);
  EXPECT(last_report.tag == 77 && last_report.id == 1 && last_report.status == RELAYVM_OK);
  EXPECT(last_report.invocation != 0 && last_report.total_ns >= last_report.queued_ns);
  EXPECT(relayvm_scheduler_drain(on_host, 0) == NULL);
  EXPECT(CodeOf(relayvm_scheduler_run(on_host, program, "main", &some, 1, NULL, Complete,
                                      &on_threads, NULL)) == RELAYVM_FAILED_PRECONDITION);
  relayvm_scheduler_free(on_host);
  EXPECT(releases == 1);
  relayvm_runtime_free(small);

  /* Freeing it ends what runs. */
  EXPECT(relayvm_scheduler_run(scheduler, program, "main", &many, 1, NULL, Complete, &tally,
                               NULL) == NULL);
  relayvm_executable_free(program);
  relayvm_scheduler_free(scheduler);
  EXPECT(tally.failures == 4);
  relayvm_value_free(some);
  relayvm_value_free(many);
  return NULL;
}
