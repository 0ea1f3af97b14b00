/**
 * The process that reads a git repository: receives one plan, sends back the content of the repository, and ends.
 *
 * It has no network: the daemon makes its requests, through the guard of outgoing requests, and stores the responses in
 * files. It may write to one folder and starts no process (Node's permission model, see git-process.ts). Nothing is
 * checked out, so no path, link, module, hook or filter of a repository ever becomes a file.
 */
import '../../../../lib/no-debugger.js'
import fs from 'node:fs'
import { join } from 'node:path'
import { disableNetwork } from '../../../readers/index.js'
import { BLOBS, type FromGit, type GitPlan, type GitProblem, type GitReading, type ToGit } from './git-messages.js'
import { listMarkdownPages, RepositoryTooLarge } from './git-tree.js'

disableNetwork()
const git = await import('isomorphic-git')

/** Number of commits in which the last edit of a page is searched. */
const MAX_COMMITS = 50
const MAX_PAGE_BYTES = 20 * 1024 * 1024
const MAX_TOTAL_BYTES = 256 * 1024 * 1024

class GitReadError extends Error {
  readonly reason: GitProblem
  constructor(reason: GitProblem) {
    super(reason)
    this.reason = reason
  }
}

type GitHttpReply = Extract<ToGit, { kind: 'answer' | 'refused' }>
const pendingRequests = new Map<number, (reply: GitHttpReply) => void>()
let requestCount = 0

process.on('message', (message: ToGit) => {
  if (message.kind !== 'plan') return pendingRequests.get(message.id)?.(message)
  read(message.plan).then(
    (reading) => send({ kind: 'done', reading }),
    (error: unknown) => send({ kind: 'failed', reason: toGitProblem(error) }),
  )
})
process.on('disconnect', () => process.exit(0))
send({ kind: 'ready' })

function send(message: FromGit): void {
  process.send?.(message)
}

function toGitProblem(error: unknown): GitProblem {
  if (error instanceof GitReadError) return error.reason
  if (error instanceof RepositoryTooLarge) return 'too-many'
  return error instanceof git.Errors.NotFoundError ? 'branch' : 'unreadable'
}

async function read({ url, branch, folder, workDir, withContent }: GitPlan): Promise<GitReading> {
  const gitdir = join(workDir, 'git')
  const cache = {}
  await git.init({ fs, dir: workDir, gitdir, bare: true })
  await git.addRemote({ fs, gitdir, remote: 'origin', url })
  const { fetchHead, defaultBranch } = await git.fetch({
    fs,
    http,
    gitdir,
    url,
    cache,
    remote: 'origin',
    singleBranch: true,
    tags: false,
    depth: MAX_COMMITS,
    ...(branch === undefined ? {} : { ref: branch, remoteRef: `refs/heads/${branch}` }),
  })
  if (fetchHead === null) throw new GitReadError('empty')
  const objects = {
    tree: async (oid: string) => (await git.readTree({ fs, gitdir, cache, oid })).tree,
    async commit(oid: string) {
      try {
        const { commit } = await git.readCommit({ fs, gitdir, cache, oid })
        return { tree: commit.tree, parent: commit.parent, time: commit.committer.timestamp }
      } catch (error) {
        if (error instanceof git.Errors.NotFoundError) return undefined
        throw error
      }
    },
  }
  const pages = await listMarkdownPages(objects, fetchHead, folder)
  if (withContent) {
    let remainingBytes = MAX_TOTAL_BYTES
    for (const oid of new Set(pages.map((page) => page.oid))) {
      const { blob } = await git.readBlob({ fs, gitdir, cache, oid })
      // a page that is too large is omitted; reading it reports that
      if (blob.length > MAX_PAGE_BYTES) continue
      remainingBytes -= blob.length
      if (remainingBytes < 0) throw new GitReadError('too-many')
      fs.writeFileSync(join(workDir, BLOBS, oid), blob)
    }
  }
  return { branch: branch ?? (defaultBranch ?? 'HEAD').replace('refs/heads/', ''), pages }
}

interface GitRequest {
  url: string
  method?: string | undefined
  headers?: Record<string, string> | undefined
  body?: AsyncIterable<Uint8Array> | Uint8Array[]
}

/** HTTP client of the library; the daemon sends the requests. */
const http = {
  async request({ url, method = 'GET', headers = {}, body }: GitRequest) {
    const parts: Uint8Array[] = []
    for await (const part of body ?? []) parts.push(part)
    const id = requestCount++
    const reply = await new Promise<GitHttpReply>((resolve) => {
      pendingRequests.set(id, resolve)
      send({ kind: 'request', id, url, method, headers, body: Buffer.concat(parts) })
    })
    pendingRequests.delete(id)
    if (reply.kind === 'refused') throw new GitReadError('request')
    return {
      url,
      method,
      headers: reply.headers,
      statusCode: reply.status,
      statusMessage: '',
      body: fs.createReadStream(reply.file)[Symbol.asyncIterator](),
    }
  },
}
