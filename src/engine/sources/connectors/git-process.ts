import type { ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { linkAbort } from '../../../lib/abort.js'
import { entryUrl } from '../../../lib/entry.js'
import { killAtExit } from '../../../lib/kill-at-exit.js'
import { residentBytes } from '../../../lib/resident-bytes.js'
import { EgressFailure } from '../../egress/failure.js'
import type { Opened, SafeFetch } from '../../egress/safe-fetch.js'
import { forkReader } from '../../parse/child-handle.js'
import {
  ANSWERS,
  BLOBS,
  type FromGit,
  type GitPlan,
  type GitProblem,
  type GitReading,
  type ToGit,
} from './git-messages.js'
import { placeProblem } from './place.js'

const TIMEOUT_MS = 5 * 60_000
const REFS_TIMEOUT_MS = 30_000
const MAX_PACK_BYTES = 128 * 1024 * 1024
const MEMORY_BYTES = 768 * 1024 * 1024
const HEAP_MIB = 384
const WATCH_MS = 250

const REFS = '/info/refs?service=git-upload-pack'
const PACK = '/git-upload-pack'

const TEXTS: Record<GitProblem, string> = {
  request: 'the repository could not be fetched',
  branch: 'the branch does not exist',
  'too-many': 'the repository exceeds the size limit',
  empty: 'the repository is empty',
  unreadable: 'a response that is not from git',
}

/** Access for the two requests of a repository. */
export interface GitWay {
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
export async function readRepository(plan: GitPlan, way: GitWay): Promise<GitReading> {
  for (const part of [BLOBS, ANSWERS]) await mkdir(join(plan.workDir, part), { recursive: true, mode: 0o700 })
  const deadline = linkAbort(way.signal)
  const timer = setTimeout(
    () => deadline.abort(new EgressFailure(`the repository was not read within ${TIMEOUT_MS} ms`)),
    TIMEOUT_MS,
  )
  let child: ChildProcess | undefined
  try {
    const repository = await openRepository(plan, { ...way, signal: deadline.signal })
    child = forkReader(entryUrl(import.meta.url, './git-child.js'), {
      heapMib: HEAP_MIB,
      stderr: 'ignore',
      folders: [plan.workDir],
      flags: [`--allow-fs-write=${join(plan.workDir, '*')}`],
    })
    killAtExit(child)
    return await converse(child, plan, repository, deadline.signal)
  } finally {
    clearTimeout(timer)
    deadline.dispose()
    child?.kill('SIGKILL')
  }
}

function converse(child: ChildProcess, plan: GitPlan, answer: Repository, signal: AbortSignal): Promise<GitReading> {
  return new Promise((resolve, reject) => {
    let refusal: unknown
    const memory = setInterval(() => {
      if (residentBytes(child.pid) > MEMORY_BYTES) end(new EgressFailure(TEXTS['too-many']))
    }, WATCH_MS)
    const stop = () => end(signal.reason)
    const end = (error: unknown, reading?: GitReading) => {
      clearInterval(memory)
      signal.removeEventListener('abort', stop)
      if (reading === undefined) reject(error)
      else resolve(reading)
    }
    signal.addEventListener('abort', stop, { once: true })
    const tell = (message: ToGit) => child.connected && child.send(message, () => undefined)
    child.on('error', () => end(new EgressFailure(TEXTS.unreadable)))
    child.on('exit', () => end(new EgressFailure(TEXTS.unreadable)))
    child.on('message', (message: FromGit) => {
      if (message.kind === 'ready') tell({ kind: 'plan', plan })
      else if (message.kind === 'done') end(undefined, message.reading)
      else if (message.kind === 'failed') end(refusal ?? new EgressFailure(TEXTS[message.reason]))
      else
        answer(message).then(tell, (error: unknown) => {
          // the error of the guard is the result; the process only learns that its request failed
          refusal = error
          tell({ kind: 'refused', id: message.id })
        })
    })
  })
}

/** Handles the requests of a process. */
type Repository = (request: Extract<FromGit, { kind: 'request' }>) => Promise<ToGit>

/**
 * Fetches the branches, before a process is started for an invalid location, and then handles the requests of the
 * process; each response is stored in a file. Follows a repository that has moved as git does.
 */
async function openRepository({ url, workDir }: GitPlan, { fetch, credentials, signal }: GitWay): Promise<Repository> {
  const keep = async (answer: Opened, id: string) => {
    const problem = answer.status === 200 ? undefined : placeProblem(answer.status)
    if (problem !== undefined || answer.status !== 200) {
      answer.body.destroy()
      throw problem ?? new EgressFailure(TEXTS.unreadable)
    }
    const file = join(workDir, ANSWERS, id)
    await pipeline(answer.body, createWriteStream(file, { mode: 0o600 }))
    return { status: answer.status, headers: answer.headers, file }
  }
  const branches = await fetch.open(`${url}${REFS}`, { credentials, signal, timeoutMs: REFS_TIMEOUT_MS })
  const base = branches.url.endsWith(REFS) ? branches.url.slice(0, -REFS.length) : url
  const refs = await keep(branches, 'refs')
  return async ({ id, method, url: asked, headers, body }) => {
    if (method === 'GET' && asked === `${url}${REFS}`) return { kind: 'answer', id, ...refs }
    if (method !== 'POST' || asked !== `${url}${PACK}`) throw new EgressFailure('a request that git does not send')
    const pack = await fetch.open(`${base}${PACK}`, {
      method: 'POST',
      body,
      signal,
      maxBytes: MAX_PACK_BYTES,
      headers: typed(headers),
      ...(new URL(base).origin === new URL(url).origin ? { credentials } : {}),
    })
    return { kind: 'answer', id, ...(await keep(pack, `pack-${id}`)) }
  }
}

/** Only these two of the process's headers are sent. */
function typed(headers: Record<string, string>): Record<string, string> {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(lower.filter(([name]) => name === 'content-type' || name === 'accept'))
}
