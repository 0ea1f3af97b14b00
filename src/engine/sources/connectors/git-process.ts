import { type ChildProcess, fork } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, parse as parsePath } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { linkAbort } from '../../../lib/abort.js'
import { entryUrl } from '../../../lib/entry.js'
import { residentBytes } from '../../compile/parse/child-handle.js'
import { EgressFailure } from '../../egress/failure.js'
import type { SafeFetch } from '../../egress/safe-fetch.js'
import {
  ANSWERS,
  BLOBS,
  type FromGit,
  type GitPlan,
  type GitProblem,
  type GitReading,
  type ToGit,
} from './git-messages.js'

const TIMEOUT_MS = 5 * 60_000
const MAX_PACK_BYTES = 128 * 1024 * 1024
const MEMORY_BYTES = 768 * 1024 * 1024
const HEAP_MIB = 384
const WATCH_MS = 250

const REFS = '/info/refs?service=git-upload-pack'
const PACK = '/git-upload-pack'

const TEXTS: Record<GitProblem, string> = {
  request: 'the repository could not be fetched',
  branch: 'there is no such branch',
  'too-many': 'the repository is larger than what is read of one',
  empty: 'the repository is empty',
  unreadable: 'an answer that is not of git',
}

/** How the repository's two requests are made. */
export interface GitWay {
  fetch: SafeFetch
  credentials: Record<string, string>
  signal: AbortSignal
}

/**
 * Reads a repository in a process of its own, bounded in time, memory and bytes. The process asks for what it needs and
 * the daemon fetches it: the list of branches and one pack, of this repository and no other address.
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
    deadline.signal.throwIfAborted()
    child = start(plan.workDir)
    return await converse(child, plan, { ...way, signal: deadline.signal })
  } finally {
    clearTimeout(timer)
    deadline.dispose()
    child?.kill('SIGKILL')
  }
}

/** @see child-handle.ts, which starts the reading processes of documents in the same way */
function start(workDir: string): ChildProcess {
  return fork(fileURLToPath(entryUrl(import.meta.url, './git-child.js')), [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [
      '--no-warnings',
      process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission',
      '--allow-fs-read=*',
      `--allow-fs-write=${join(workDir, '*')}`,
      `--max-old-space-size=${HEAP_MIB}`,
    ],
    env: { TZ: 'UTC' },
    cwd: parsePath(process.cwd()).root,
  })
}

function converse(child: ChildProcess, plan: GitPlan, way: GitWay): Promise<GitReading> {
  const fetcher = createFetcher(plan, way)
  return new Promise((resolve, reject) => {
    let refusal: unknown
    const memory = setInterval(() => {
      if (residentBytes(child.pid) > MEMORY_BYTES) end(new EgressFailure(TEXTS['too-many']))
    }, WATCH_MS)
    const stop = () => end(way.signal.reason)
    const end = (error: unknown, reading?: GitReading) => {
      clearInterval(memory)
      way.signal.removeEventListener('abort', stop)
      if (reading === undefined) reject(error)
      else resolve(reading)
    }
    way.signal.addEventListener('abort', stop, { once: true })
    const tell = (message: ToGit) => child.connected && child.send(message, () => undefined)
    child.on('error', () => end(new EgressFailure(TEXTS.unreadable)))
    child.on('exit', () => end(new EgressFailure(TEXTS.unreadable)))
    child.on('message', (message: FromGit) => {
      if (message.kind === 'ready') tell({ kind: 'plan', plan })
      else if (message.kind === 'done') end(undefined, message.reading)
      else if (message.kind === 'failed') end(refusal ?? new EgressFailure(TEXTS[message.reason]))
      else
        fetcher(message).then(tell, (error: unknown) => {
          // what the guard said is the answer; the process only learns that there is none
          refusal = error
          tell({ kind: 'refused', id: message.id })
        })
    })
  })
}

/** Makes the requests of a process; each answer lies in a file. A repository that has moved is followed as git does. */
function createFetcher({ url, workDir }: GitPlan, { fetch, credentials, signal }: GitWay) {
  let base = url
  return async ({ id, ...request }: Extract<FromGit, { kind: 'request' }>): Promise<ToGit> => {
    const isRefs = request.method === 'GET' && request.url === `${url}${REFS}`
    const isPack = request.method === 'POST' && request.url === `${url}${PACK}`
    if (!isRefs && !isPack) throw new EgressFailure('a request that git does not make')
    const { 'content-type': contentType, accept } = lowerCase(request.headers)
    const answer = await fetch.open(isRefs ? `${url}${REFS}` : `${base}${PACK}`, {
      headers: {
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
        ...(accept === undefined ? {} : { accept }),
      },
      ...(isPack ? { method: 'POST', body: request.body } : {}),
      ...(isRefs || new URL(base).origin === new URL(url).origin ? { credentials } : {}),
      ...(isPack ? { maxBytes: MAX_PACK_BYTES } : {}),
      signal,
    })
    if (answer.status !== 200) {
      answer.body.destroy()
      const refused = answer.status === 401 || answer.status === 403
      throw new EgressFailure(
        refused ? `the credentials are not accepted (answered ${answer.status})` : `answered ${answer.status}`,
      )
    }
    if (isRefs && answer.url.endsWith(REFS)) base = answer.url.slice(0, -REFS.length)
    const file = join(workDir, ANSWERS, String(id))
    await pipeline(answer.body, createWriteStream(file, { mode: 0o600 }))
    return { kind: 'answer', id, status: answer.status, headers: answer.headers, file }
  }
}

function lowerCase(headers: Record<string, string>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
