import { parentPort, workerData } from 'node:worker_threads'
import { communitiesOf } from './communities.kernel.js'
import type { ViewJob } from './job.js'
import { reportsOf } from './reports.kernel.js'
import { labelled, topicsOf } from './topics.kernel.js'

/** Entry of the thread that groups documents and entities. It ends after its one answer. */

type Job = { [Kind in ViewJob['kind']]: ViewJob<Kind> }[ViewJob['kind']]

function answer(job: Job): unknown {
  switch (job.kind) {
    case 'topics':
      return topicsOf(job.input)
    case 'labels':
      return labelled(job.input)
    case 'communities':
      return communitiesOf(job.input)
    case 'reports':
      return reportsOf(job.input)
    default:
      return job satisfies never
  }
}

const job: Job = workerData
parentPort?.postMessage(answer(job))
