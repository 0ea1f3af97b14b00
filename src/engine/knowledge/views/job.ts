import { Worker } from 'node:worker_threads'
import { resolveEntryUrl } from '../../../lib/entry.js'
import type { ReportInput } from '../../store/rows/views/reports.js'
import type { ClusterLink } from './cluster.js'
import type { CommunityGroup } from './communities.kernel.js'
import type { ReportDraft } from './reports.kernel.js'
import type { TopicNameInput } from './topic-names.js'
import type { TopicDocument, TopicGroup, TopicLabel } from './topics.kernel.js'

/** Jobs of the semantic views thread, with inputs and outputs. */
export interface ViewJobs {
  topics: { input: TopicDocument[]; output: TopicGroup[] }
  /** a name where the documents suggest one, and the distinctive words as they are written */
  labels: { input: TopicNameInput[]; output: TopicLabel[] }
  communities: { input: ClusterLink[]; output: CommunityGroup[] }
  /** a title and the most informative sentences of each community */
  reports: { input: ReportInput[]; output: ReportDraft[] }
}

export interface ViewJob<Kind extends keyof ViewJobs = keyof ViewJobs> {
  kind: Kind
  input: ViewJobs[Kind]['input']
}

/** A space of 20,000 documents takes some seconds; more time means a defect. */
const JOB_TIMEOUT_MS = 120_000
const MAX_HEAP_MB = 512

/**
 * Runs one job in a separate thread.
 *
 * @throws Error when the thread fails, when it takes too long, or when the signal aborts
 */
export async function runViewJob<Kind extends keyof ViewJobs>(
  kind: Kind,
  input: ViewJobs[Kind]['input'],
  signal: AbortSignal,
): Promise<ViewJobs[Kind]['output']> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(JOB_TIMEOUT_MS)])
  limited.throwIfAborted()
  const job: ViewJob<Kind> = { kind, input }
  const worker = new Worker(resolveEntryUrl(import.meta.url, './views.worker.js'), {
    name: 'semantic-views',
    workerData: job,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
  try {
    return await new Promise((resolve, reject) => {
      limited.addEventListener('abort', () => reject(limited.reason), { once: true })
      worker.on('message', resolve)
      worker.on('error', reject)
      worker.on('exit', (code) => reject(new Error(`the semantic views thread ended with code ${code}`)))
    })
  } finally {
    await worker.terminate()
  }
}
