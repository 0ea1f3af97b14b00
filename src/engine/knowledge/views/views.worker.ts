import { parentPort, workerData } from 'node:worker_threads'
import { findCommunities } from './communities.kernel.js'
import type { ViewJob } from './job.js'
import { buildReportDrafts } from './reports.kernel.js'
import { findTopics, nameTopics } from './topics.kernel.js'

/** Entry of the thread that groups documents and entities. It ends after its one answer. */

type AnyViewJob = { [Kind in ViewJob['kind']]: ViewJob<Kind> }[ViewJob['kind']]

function runJob(job: AnyViewJob): unknown {
  switch (job.kind) {
    case 'topics':
      return findTopics(job.input)
    case 'labels':
      return nameTopics(job.input)
    case 'communities':
      return findCommunities(job.input)
    case 'reports':
      return buildReportDrafts(job.input)
    default:
      return job satisfies never
  }
}

const job: AnyViewJob = workerData
parentPort?.postMessage(runJob(job))
