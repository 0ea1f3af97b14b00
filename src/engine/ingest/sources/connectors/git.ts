import { readFile, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { EgressFailure } from '../../../models/index.js'
import {
  type ConnectorAccess,
  type ConnectorModule,
  ItemFailure,
  type PageConnection,
  type SourceLocation,
} from './connector.js'
import { BLOBS, type GitReading } from './git-messages.js'
import { type GitAccess, PROBLEM_TEXTS, REFS_PATH, readRepository } from './git-process.js'
import {
  assertCredentialKeys,
  assertParameters,
  getCredentialText,
  getTextParameter,
  parseHttpUrl,
  toLocationFailure,
} from './location.js'

const SOURCE_NAME = 'a git source'
const BRANCH = /^(?![-/.])(?!.*(?:\.\.|\/\/|@\{))[^\u0000-\u0020\u007f~^:?*[\\]{1,200}$/
/** a relative folder: no `.` or `..` part, no slash at either end */
const FOLDER = /^(?!\.{1,2}(?:\/|$))[^/\u0000]+(?:\/(?!\.{1,2}(?:\/|$))[^/\u0000]+)*$/
const PAGE = 'page'

/** The Markdown files of a branch of a git repository. Page ids are their paths, workspace ids the branch. */
export const gitConnector: ConnectorModule<PageConnection> = {
  check(location) {
    parsePlan(location)
    createAuthHeaders(location)
  },
  connect(location, access) {
    const plan = parsePlan(location)
    const gitAccess: GitAccess = {
      fetch: access.fetch,
      credentials: createAuthHeaders(location),
      signal: access.signal,
    }
    let reading: Promise<GitReading> | undefined
    const read = () => {
      reading ??= readRepository({ ...plan, workDir: access.workDir, withContent: true }, gitAccess)
      return reading
    }
    return {
      test: () => testRepository(plan.url, gitAccess),
      async list() {
        const { branch, pages } = await readRepository(
          { ...plan, workDir: access.workDir, withContent: false },
          gitAccess,
        )
        const listedPages = pages.map(({ path, lastEditedTime }) => ({
          pageId: path,
          pageName: posix.basename(path),
          type: PAGE,
          lastEditedTime,
        }))
        const workspaceName = posix.basename(plan.url).replace(/\.git$/, '')
        return [{ workspaceId: branch, workspaceName, total: listedPages.length, pages: listedPages }]
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
          content: await readPageContent(access, page.oid),
        }
      },
      async close() {
        await reading?.catch(() => undefined)
        await rm(access.workDir, { recursive: true, force: true })
      },
    }
  },
}

function parsePlan(location: SourceLocation) {
  assertParameters(location, ['branch', 'folder'], SOURCE_NAME)
  const branch = getTextParameter(location, 'branch', BRANCH)
  const folder = getTextParameter(location, 'folder', FOLDER)
  const url = parseHttpUrl(location.uri, SOURCE_NAME).href.replace(/\/+$/, '')
  return { url, branch, folder: folder === undefined ? '' : `${folder}/` }
}

/** Servers that support tokens accept them as a password with any name. */
function createAuthHeaders({ credentials }: SourceLocation): Record<string, string> {
  assertCredentialKeys(credentials, ['token', 'username', 'password'], SOURCE_NAME)
  const token = getCredentialText(credentials, 'token')
  const username = getCredentialText(credentials, 'username') ?? (token === undefined ? undefined : 'x-access-token')
  const password = getCredentialText(credentials, 'password') ?? token ?? ''
  if (username === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

async function testRepository(url: string, { fetch, credentials, signal }: GitAccess): Promise<void> {
  const response = await fetch.get(`${url}${REFS_PATH}`, { credentials, signal })
  const problem = toLocationFailure(response.status)
  if (problem !== undefined) throw problem
  if (response.mediaType !== 'application/x-git-upload-pack-advertisement')
    throw new EgressFailure(PROBLEM_TEXTS.unreadable)
}

async function readPageContent({ workDir }: ConnectorAccess, oid: string): Promise<Buffer> {
  try {
    return await readFile(join(workDir, BLOBS, oid))
  } catch {
    throw new ItemFailure('exceeds the size limit of a page')
  }
}
