import { posix } from 'node:path'
import { KsError } from '../../../../contract/errors.js'
import {
  confirmsState,
  EgressFailure,
  extractValidators,
  type OpenedResource,
  toConditionHeaders,
  type Validators,
} from '../../../models/index.js'
import { createAuthHeaders } from '../content.js'
import { callReadingThread } from '../reading.js'
import { copyBytes } from '../thread.js'
import {
  type ConnectorAccess,
  type ConnectorModule,
  type DriveConnection,
  type DriveFile,
  type DriveQuery,
  ItemFailure,
} from './connector.js'
import { assertParameters, parseHttpUrl, toItemFailure, toLocationFailure } from './location.js'

const PROPERTIES =
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/></prop></propfind>'

/** A folder of a WebDAV server (RFC 4918). Ids are paths below it. */
export const webdavConnector: ConnectorModule<DriveConnection> = {
  check(location) {
    parseHttpUrl(location.uri, 'a webdav source')
    assertParameters(location, [], 'a webdav source')
    createAuthHeaders(location.credentials)
  },
  connect(location, access) {
    const base = parseHttpUrl(location.uri, 'a webdav source')
    const credentials = createAuthHeaders(location.credentials)
    const davAccess = { base, credentials, access }
    return {
      test: async () => void (await propfind(davAccess, base, '0')),
      resolveBucket({ bucket }) {
        assertNoBucket(bucket)
        return { isNamedBySource: true }
      },
      async list(query) {
        assertNoBucket(query.bucket)
        return [await listFolder(davAccess, query)]
      },
      async open({ id, bucket }, kept) {
        assertNoBucket(bucket)
        const state = kept === undefined ? 'unknown' : await openIfChanged(davAccess, id, kept)
        if (state === 'kept') return undefined
        return state === 'unknown' ? toDriveFile(await requestItem(davAccess, id)) : toDriveFile(state)
      },
      close: async () => undefined,
    }
  },
}

interface DavAccess {
  base: URL
  credentials: Record<string, string>
  access: ConnectorAccess
}

/** @returns `kept` when the server confirms it, and `unknown` when its response says nothing about the stored file */
async function openIfChanged(
  davAccess: DavAccess,
  id: string,
  kept: Validators,
): Promise<DavResponse | 'kept' | 'unknown'> {
  const response = await requestItem(davAccess, id, toConditionHeaders(kept))
  const { status, headers, body } = response.answer
  if (status !== 304 && status !== 412) return response
  body.destroy()
  return status === 304 && !response.isRedirected && confirmsState(kept, headers) ? 'kept' : 'unknown'
}

interface DavResponse {
  answer: OpenedResource
  isRedirected: boolean
}

async function requestItem({ base, credentials, access }: DavAccess, id: string, condition = {}): Promise<DavResponse> {
  const { fetch, signal, maxFileBytes: maxBytes } = access
  const { href } = toItemUrl(base, id)
  const answer = await fetch.open(href, { credentials, signal, maxBytes, condition })
  return { answer, isRedirected: answer.url !== href }
}

/** @throws ItemFailure, EgressFailure for a response that is not the file */
function toDriveFile({ answer: { status, headers, mediaType, body }, isRedirected }: DavResponse): DriveFile {
  const problem = toItemFailure(status)
  if (problem !== undefined) {
    body.destroy()
    throw problem
  }
  // validators of another address do not apply to this one
  const validators = isRedirected ? undefined : extractValidators(headers)
  return { content: body, validators, ...(mediaType === '' ? {} : { mimeType: mediaType }) }
}

async function listFolder(davAccess: DavAccess, { prefix = '', maxKeys }: DriveQuery) {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  const url = toFolderUrl(davAccess.base, folder)
  const body = copyBytes(await propfind(davAccess, url, '1'))
  // one more than requested shows whether there are more
  const listing = { base: davAccess.base.href, asked: url.href, folder, prefix, most: maxKeys + 1 }
  const entries = await callReadingThread((thread) => thread.call('davFolder', body, listing))
  return { isTruncated: entries.length > maxKeys, files: entries.slice(0, maxKeys) }
}

async function propfind({ credentials, access }: DavAccess, url: URL, depth: '0' | '1'): Promise<Buffer> {
  const { fetch, signal } = access
  const answer = await fetch.get(url.href, {
    method: 'PROPFIND',
    headers: { depth, 'content-type': 'application/xml' },
    body: PROPERTIES,
    credentials,
    signal,
  })
  const problem = toLocationFailure(answer.status)
  if (problem !== undefined) throw problem
  if (answer.status !== 207) throw new EgressFailure('a response that is not from WebDAV')
  return answer.body
}

function assertNoBucket(bucket: string | undefined): void {
  if (bucket !== undefined && bucket !== '')
    throw new KsError('invalid-request', 'a webdav source has no buckets: omit bucket')
}

function toFolderUrl(base: URL, folder: string): URL {
  try {
    return toItemUrl(base, folder)
  } catch (error) {
    if (!(error instanceof ItemFailure)) throw error
    throw new KsError(
      'invalid-request',
      `prefix must be a path below the source, received ${JSON.stringify(folder.slice(0, 200))}`,
    )
  }
}

/** The URL of an id, never outside the folder of the source. @throws ItemFailure */
function toItemUrl(base: URL, id: string): URL {
  const path = id.split('/').map((part) => encodeURIComponent(part.toWellFormed()))
  const url = new URL(base)
  url.pathname = base.pathname + path.join('/')
  const plain = posix.normalize(`/${id}`) === `/${id}` && !id.startsWith('/')
  if (!plain || !url.pathname.startsWith(base.pathname)) throw new ItemFailure('is outside the location of the source')
  return url
}
