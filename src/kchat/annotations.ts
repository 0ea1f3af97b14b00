import { setTimeout as sleep } from 'node:timers/promises'
import { CliError } from '../cli/cli-error.js'
import type { OutputColumn } from '../cli/columns.js'
import { EXIT } from '../contract/errors.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { resolveIdForPath, resolveTypedId } from './ids.js'
import type { KchatOptions } from './options.js'
import { printDone, printOne } from './output.js'
import { type NumberedRange, printNumbered, readNumberedPages } from './pages.js'
import { withChat } from './service.js'

const COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'question' },
  { field: 'answer' },
  { field: 'hit_count', title: 'HITS' },
]
const POLL_MS = 300

const DEFAULT_THRESHOLD = 0.9

interface AnnotationFields {
  question: string
  answer: string
}

export async function listAnnotations(options: KchatOptions & NumberedRange & { keyword?: string }): Promise<void> {
  const { keyword } = options
  const filter = keyword === undefined ? '' : `&keyword=${encodeURIComponent(keyword)}`
  await withChat(options, async (chat) => {
    const items = readNumberedPages((query) => chat.call('GET', `/apps/annotations?${query}${filter}`), options)
    await printNumbered(items, options, {
      columns: COLUMNS,
      empty: 'No annotations.',
      hint: '`kchat annotations add --question TEXT --answer TEXT` creates one',
    })
  })
}

export async function addAnnotation(options: KchatOptions & AnnotationFields): Promise<void> {
  const { question, answer } = options
  await withChat(options, async (chat) =>
    printOne(await chat.call('POST', '/apps/annotations', { question, answer }), options, COLUMNS),
  )
}

export async function updateAnnotation(typedId: string, options: KchatOptions & AnnotationFields): Promise<void> {
  const { question, answer } = options
  const path = `/apps/annotations/${resolveIdForPath('annotation', typedId)}`
  await withChat(options, async (chat) =>
    printOne(await chat.call('PUT', path, { question, answer }), options, COLUMNS),
  )
}

export async function deleteAnnotation(typedId: string, options: KchatOptions): Promise<void> {
  const id = resolveTypedId('annotation', typedId)
  await withChat(options, (chat) => chat.call('DELETE', `/apps/annotations/${encodeURIComponent(id)}`))
  printDone(options, { id, deleted: true }, 'Deleted.')
}

/** Enables or disables annotation replies; `--wait` waits for the job. @throws CliError exit 1 if the job fails */
export async function setAnnotationReply(
  action: 'enable' | 'disable',
  options: KchatOptions & { threshold?: number; wait?: boolean },
): Promise<void> {
  const body = action === 'enable' ? { score_threshold: options.threshold ?? DEFAULT_THRESHOLD } : {}
  await withChat(options, async (chat) => {
    let job = await chat.call('POST', `/apps/annotation-reply/${action}`, body)
    const id = isRecord(job) ? (toNonEmptyString(job.job_id) ?? '') : ''
    while (options.wait === true && isRecord(job) && /^(waiting|processing)$/.test(String(job.job_status))) {
      await sleep(POLL_MS)
      job = await chat.call('GET', `/apps/annotation-reply/${action}/status/${encodeURIComponent(id)}`)
    }
    printJob(job, options)
  })
}

/** Prints the status of the job that enables or disables annotation replies. */
export async function showReplyStatus(jobId: string, options: KchatOptions & { action: string }): Promise<void> {
  const path = `/apps/annotation-reply/${encodeURIComponent(options.action)}/status/${encodeURIComponent(jobId)}`
  await withChat(options, async (chat) => printJob(await chat.call('GET', path), options))
}

/** @throws CliError exit 1 if the job has failed */
function printJob(job: unknown, options: KchatOptions): void {
  printOne(job, options, [
    { field: 'job_id', title: 'JOB' },
    { field: 'job_status', title: 'STATUS', kind: 'state' },
  ])
  if (isRecord(job) && job.job_status === 'error')
    throw new CliError(toNonEmptyString(job.error_msg) ?? 'the job failed', { code: 'job-failed', exit: EXIT.failed })
}
