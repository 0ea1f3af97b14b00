import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa, execaSync } from 'execa'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { startSite } from '../site.js'
import type { MissingReason, RemoteServer } from './place.js'

export function findMissingGit(): MissingReason {
  return execaSync('git', ['http-backend'], { reject: false }).exitCode === undefined
    ? 'git is not installed'
    : undefined
}

const AUTHOR = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' }
const COMMITTER = { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' }

export interface GitServer extends RemoteServer {
  folder: string
  git(...args: string[]): string
  /** commits everything, with a time one hour after the previous commit */
  commit(): void
}

/** Starts a server of a repository, with git's HTTP backend; the branch is `main`. */
export async function startGit(): Promise<GitServer> {
  const home = mkdtempSync(join(tmpdir(), 'ks-git-'))
  const folder = join(home, 'work')
  mkdirSync(folder)
  let time = Date.UTC(2026, 0, 1) / 1000
  const git = (...args: string[]) => {
    const date = `${time} +0000`
    const env = { ...AUTHOR, ...COMMITTER, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date, HOME: home }
    return execaSync('git', args, { cwd: folder, env, stripFinalNewline: false }).stdout
  }
  git('init', '-q', '-b', 'main')
  const commit = () => {
    time += 3600
    git('add', '-A')
    git('commit', '-q', '--allow-empty', '-m', 'change')
  }
  commit()
  const requests: string[] = []
  const site = await startSite()
  const expected = `Basic ${Buffer.from('x-access-token:secret').toString('base64')}`
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url}`)
    if (request.headers.authorization !== expected)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    runBackend(folder, request, response)
  }
  site.pages.set('/notes.git/info/refs?service=git-upload-pack', serve)
  site.pages.set('/notes.git/git-upload-pack', serve)
  return {
    type: 'connector',
    uri: `${site.url}/notes.git`,
    requests,
    folder,
    git,
    commit,
    metadata: { provider: 'git', credentials: { token: 'secret' } },
    refusedMetadata: { provider: 'git', credentials: { token: 'wrong' } },
    async put(name, text) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
      commit()
    },
    async remove(name) {
      rmSync(join(folder, name))
      commit()
    },
    async end() {
      await site.end()
      removeFolder(home)
    },
  }
}

/** CGI (RFC 3875), as far as `git http-backend` needs it. */
function runBackend(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const child = execa('git', ['http-backend'], {
    extendEnv: false,
    buffer: false,
    reject: false,
    env: {
      PATH: process.env.PATH ?? '',
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: url.pathname.replace('/notes.git', '/.git'),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      REMOTE_ADDR: '127.0.0.1',
    },
  })
  request.pipe(child.stdin)
  child.stdin.on('error', () => undefined)
  const parts: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => parts.push(part))
  child.on('close', () => {
    const output = Buffer.concat(parts)
    const end = output.indexOf('\r\n\r\n')
    for (const line of output.subarray(0, end).toString().split('\r\n')) {
      const [name = '', value = ''] = line.split(': ')
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
      else response.setHeader(name, value)
    }
    response.end(output.subarray(end + 4))
  })
}
