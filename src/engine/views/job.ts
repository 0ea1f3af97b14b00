import { Worker } from 'node:worker_threads'
import { entryUrl } from '../../lib/entry.js'
import type { ReportInput } from '../rows/views/reports.js'
import type { Link } from './cluster.js'
import type { CommunityGroup } from './communities.kernel.js'
import type { ReportDraft } from './reports.kernel.js'
import type { NamedGroup } from './topic-names.js'
import type { TopicDocument, TopicGroup, TopicLabel } from './topics.kernel.js'

/** What the thread of semantic views is asked, and what it answers. */
export interface ViewJobs {
  topics: { input: TopicDocument[]; output: TopicGroup[] }
  /** a name where the documents give one, and the telling words as they are written */
  labels: { input: NamedGroup[]; output: TopicLabel[] }
  communities: { input: Link[]; output: CommunityGroup[] }
  /** a title and the most telling sentences of each community */
  reports: { input: ReportInput[]; output: ReportDraft[] }
}

export interface ViewJob<Kind extends keyof ViewJobs = keyof ViewJobs> {
  kind: Kind
  input: ViewJobs[Kind]['input']
}

/** A space of 20,000 documents takes some seconds; longer is a fault. */
const LONGEST_MILLISECONDS = 120_000
const HEAP_MEGABYTES = 512

/**
 * Runs one job in a thread of its own, off the event loop.
 *
 * @throws Error when the thread fails, when it takes too long, or when the signal aborts
 */
export async function runViewJob<Kind extends keyof ViewJobs>(
  kind: Kind,
  input: ViewJobs[Kind]['input'],
  signal: AbortSignal,
): Promise<ViewJobs[Kind]['output']> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MILLISECONDS)])
  limited.throwIfAborted()
  const job: ViewJob<Kind> = { kind, input }
  const worker = new Worker(entryUrl(import.meta.url, './views.worker.js'), {
    name: 'semantic-views',
    workerData: job,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
  })
  try {
    return await new Promise((resolve, reject) => {
      limited.addEventListener('abort', () => reject(limited.reason), { once: true })
      worker.on('message', resolve)
      worker.on('error', reject)
      worker.on('exit', (code) => reject(new Error(`the thread of semantic views ended with code ${code}`)))
    })
  } finally {
    await worker.terminate()
  }
}
