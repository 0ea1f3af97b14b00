import type { ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { linkAbort } from '../../../../lib/abort.js'
import { resolveEntryUrl } from '../../../../lib/entry.js'
import { killAtExit } from '../../../../lib/kill-at-exit.js'
import { readResidentBytes } from '../../../../lib/resident-bytes.js'
import { EgressFailure, type OpenedResource, type SafeFetch } from '../../../models/index.js'
import { forkReader } from '../../../readers/index.js'
import {
  ANSWERS,
  BLOBS,
  type FromGit,
  type GitPlan,
  type GitProblem,
  type GitReading,
  type ToGit,
} from './git-messages.js'
import { toLocationFailure } from './location.js'

const TIMEOUT_MS = 5 * 60_000
const REFS_TIMEOUT_MS = 30_000
const MAX_PACK_BYTES = 128 * 1024 * 1024
const MAX_MEMORY_BYTES = 768 * 1024 * 1024
const HEAP_MIB = 384
const MEMORY_CHECK_MS = 250

export const REFS_PATH = '/info/refs?service=git-upload-pack'
const PACK_PATH = '/git-upload-pack'

export const PROBLEM_TEXTS: Record<GitProblem, string> = {
  request: 'the repository could not be fetched',
  branch: 'the branch does not exist',
  'too-many': 'the repository exceeds the size limit',
  empty: 'the repository is empty',
  unreadable: 'a response that is not from git',
}

/** Access for the two requests of a repository. */
export interface GitAccess {
  fetch: SafeFetch
  credentials: Record<string, string>
  signal: AbortSignal
}

/**
 * Reads a repository in a separate process, with limits of time, memory and bytes. The process requests what it needs
 * and the daemon fetches it: the list of branches and one pack, from this repository and no other address.
 *
 * @throws EgressFailure; the signal's reason
 */
export async function readRepository(plan: GitPlan, access: GitAccess): Promise<GitReading> {
  for (const part of [BLOBS, ANSWERS]) await mkdir(join(plan.workDir, part), { recursive: true, mode: 0o700 })
  const deadline = linkAbort(access.signal)
  const timer = setTimeout(
    () => deadline.abort(new EgressFailure(`the repository was not read within ${TIMEOUT_MS} ms`)),
    TIMEOUT_MS,
  )
  let child: ChildProcess | undefined
  try {
    const repository = await openRepository(plan, { ...access, signal: deadline.signal })
    child = forkReader(resolveEntryUrl(import.meta.url, './git-child.js'), {
      heapMib: HEAP_MIB,
      stderr: 'ignore',
      folders: [plan.workDir],
      flags: [`--allow-fs-write=${join(plan.workDir, '*')}`],
    })
    killAtExit(child)
    return await runPlan(child, plan, repository, deadline.signal)
  } finally {
    clearTimeout(timer)
    deadline.dispose()
    child?.kill('SIGKILL')
  }
}

function runPlan(
  child: ChildProcess,
  plan: GitPlan,
  handle: GitRequestHandler,
  signal: AbortSignal,
): Promise<GitReading> {
  return new Promise((resolve, reject) => {
    let refusal: unknown
    const memory = setInterval(() => {
      if (readResidentBytes(child.pid) > MAX_MEMORY_BYTES) finish(new EgressFailure(PROBLEM_TEXTS['too-many']))
    }, MEMORY_CHECK_MS)
    const stop = () => finish(signal.reason)
    const finish = (error: unknown, reading?: GitReading) => {
      clearInterval(memory)
      signal.removeEventListener('abort', stop)
      if (reading === undefined) reject(error)
      else resolve(reading)
    }
    signal.addEventListener('abort', stop, { once: true })
    const send = (message: ToGit) => child.connected && child.send(message, () => undefined)
    child.on('error', () => finish(new EgressFailure(PROBLEM_TEXTS.unreadable)))
    child.on('exit', () => finish(new EgressFailure(PROBLEM_TEXTS.unreadable)))
    child.on('message', (message: FromGit) => {
      if (message.kind === 'ready') send({ kind: 'plan', plan })
      else if (message.kind === 'done') finish(undefined, message.reading)
      else if (message.kind === 'failed') finish(refusal ?? new EgressFailure(PROBLEM_TEXTS[message.reason]))
      else
        handle(message).then(send, (error: unknown) => {
          // the error of the guard is the result; the process only learns that its request failed
          refusal = error
          send({ kind: 'refused', id: message.id })
        })
    })
  })
}

/** Handles the requests of a process. */
type GitRequestHandler = (request: Extract<FromGit, { kind: 'request' }>) => Promise<ToGit>

/**
 * Fetches the branches, before a process is started for an invalid location, and then handles the requests of the
 * process; each response is stored in a file. Follows a repository that has moved as git does.
 */
async function openRepository(
  { url, workDir }: GitPlan,
  { fetch, credentials, signal }: GitAccess,
): Promise<GitRequestHandler> {
  const store = async (response: OpenedResource, id: string) => {
    if (response.status !== 200) {
      response.body.destroy()
      throw toLocationFailure(response.status) ?? new EgressFailure(PROBLEM_TEXTS.unreadable)
    }
    const file = join(workDir, ANSWERS, id)
    await pipeline(response.body, createWriteStream(file, { mode: 0o600 }))
    return { status: response.status, headers: response.headers, file }
  }
  const branches = await fetch.open(`${url}${REFS_PATH}`, { credentials, signal, timeoutMs: REFS_TIMEOUT_MS })
  const base = branches.url.endsWith(REFS_PATH) ? branches.url.slice(0, -REFS_PATH.length) : url
  const refs = await store(branches, 'refs')
  return async ({ id, method, url: requestUrl, headers, body }) => {
    if (method === 'GET' && requestUrl === `${url}${REFS_PATH}`) return { kind: 'answer', id, ...refs }
    if (method !== 'POST' || requestUrl !== `${url}${PACK_PATH}`)
      throw new EgressFailure('a request that git does not send')
    const pack = await fetch.open(`${base}${PACK_PATH}`, {
      method: 'POST',
      body,
      signal,
      maxBytes: MAX_PACK_BYTES,
      headers: pickHeaders(headers),
      ...(new URL(base).origin === new URL(url).origin ? { credentials } : {}),
    })
    return { kind: 'answer', id, ...(await store(pack, `pack-${id}`)) }
  }
}

/** Only these two of the process's headers are sent. */
function pickHeaders(headers: Record<string, string>): Record<string, string> {
  const lowerCased = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(lowerCased.filter(([name]) => name === 'content-type' || name === 'accept'))
}
