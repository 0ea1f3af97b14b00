import { readFile, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { EgressFailure } from '../../egress/failure.js'
import { type Access, type ConnectorModule, ItemFailure, type PageConnection, type Place } from './connector.js'
import { BLOBS, type GitReading } from './git-messages.js'
import { type GitWay, readRepository } from './git-process.js'
import { httpUrl, onlyParameters, onlySecrets, placeProblem, secretText, textParameter } from './place.js'

const WHAT = 'a git source'
const BRANCH = /^(?![-/.])(?!.*(?:\.\.|\/\/|@\{))[^\u0000-\u0020\u007f~^:?*[\\]{1,200}$/
/** a relative folder: no `.` or `..` part, no slash at either end */
const FOLDER = /^(?!\.{1,2}(?:\/|$))[^/\u0000]+(?:\/(?!\.{1,2}(?:\/|$))[^/\u0000]+)*$/
const PAGE = 'page'

/** The Markdown files of a branch of a git repository. Page ids are their paths, workspace ids the branch. */
export const gitConnector: ConnectorModule<PageConnection> = {
  check(place) {
    planOf(place)
    signIn(place)
  },
  connect(place, access) {
    const plan = planOf(place)
    const way: GitWay = { fetch: access.fetch, credentials: signIn(place), signal: access.signal }
    let reading: Promise<GitReading> | undefined
    const read = () => {
      reading ??= readRepository({ ...plan, workDir: access.workDir, withContent: true }, way)
      return reading
    }
    return {
      test: () => test(plan.url, way),
      async list() {
        const { branch, pages } = await readRepository({ ...plan, workDir: access.workDir, withContent: false }, way)
        const found = pages.map(({ path, lastEditedTime }) => ({
          pageId: path,
          pageName: posix.basename(path),
          type: PAGE,
          lastEditedTime,
        }))
        const workspaceName = posix.basename(plan.url).replace(/\.git$/, '')
        return [{ workspaceId: branch, workspaceName, total: found.length, pages: found }]
      },
      async read({ pageId, workspaceId, type }) {
        const { branch, pages } = await read()
        if (workspaceId !== branch || type !== PAGE) throw new ItemFailure('belongs to another workspace or type')
        const page = pages.find(({ path }) => path === pageId)
        if (page === undefined) throw new ItemFailure('does not exist')
        return {
          pageName: posix.basename(page.path),
          lastEditedTime: page.lastEditedTime,
          path: page.path,
          isUnique: true,
          mimeType: 'text/markdown',
          content: await contentOf(access, page.oid),
        }
      },
      async close() {
        await reading?.catch(() => undefined)
        await rm(access.workDir, { recursive: true, force: true })
      },
    }
  },
}

function planOf(place: Place) {
  onlyParameters(place, ['branch', 'folder'], WHAT)
  const branch = textParameter(place, 'branch', BRANCH)
  const folder = textParameter(place, 'folder', FOLDER)
  const url = httpUrl(place.uri, WHAT).href.replace(/\/+$/, '')
  return { url, branch, folder: folder === undefined ? '' : `${folder}/` }
}

/** Servers that support tokens accept them as a password with any name. */
function signIn({ credentials }: Place): Record<string, string> {
  onlySecrets(credentials, ['token', 'username', 'password'], WHAT)
  const token = secretText(credentials, 'token')
  const username = secretText(credentials, 'username') ?? (token === undefined ? undefined : 'x-access-token')
  const password = secretText(credentials, 'password') ?? token ?? ''
  if (username === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

async function test(url: string, { fetch, credentials, signal }: GitWay): Promise<void> {
  const answer = await fetch.get(`${url}/info/refs?service=git-upload-pack`, { credentials, signal })
  const problem = placeProblem(answer.status)
  if (problem !== undefined) throw problem
  if (answer.mediaType !== 'application/x-git-upload-pack-advertisement')
    throw new EgressFailure('a response that is not from git')
}

async function contentOf({ workDir }: Access, oid: string): Promise<Buffer> {
  try {
    return await readFile(join(workDir, BLOBS, oid))
  } catch {
    throw new ItemFailure('exceeds the size limit of a page')
  }
}
