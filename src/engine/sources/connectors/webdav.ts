import { posix } from 'node:path'
import { KsError } from '../../../contract/errors.js'
import { EgressFailure } from '../../egress/failure.js'
import type { Opened } from '../../egress/safe-fetch.js'
import { conditionOf, confirms, type Validators, validatorsOf } from '../../egress/validators.js'
import { webHeaders } from '../content.js'
import { readOnce } from '../reading.js'
import { ownBytes } from '../thread.js'
import {
  type Access,
  type ConnectorModule,
  type DriveConnection,
  type DriveFile,
  type DriveQuery,
  ItemFailure,
} from './connector.js'
import { httpUrl, itemProblem, onlyParameters, placeProblem } from './place.js'

const PROPERTIES =
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/></prop></propfind>'

/** A folder of a WebDAV server (RFC 4918). Ids are paths below it. */
export const webdavConnector: ConnectorModule<DriveConnection> = {
  check(place) {
    httpUrl(place.uri, 'a webdav source')
    onlyParameters(place, [], 'a webdav source')
    webHeaders(place.credentials)
  },
  connect(place, access) {
    const base = httpUrl(place.uri, 'a webdav source')
    const credentials = webHeaders(place.credentials)
    const ask = { base, credentials, access }
    return {
      test: async () => void (await propfind(ask, base, '0')),
      bucketOf({ bucket }) {
        noBucket(bucket)
        return { isNamedBySource: true }
      },
      async list(query) {
        noBucket(query.bucket)
        return [await listFolder(ask, query)]
      },
      async open({ id, bucket }, kept) {
        noBucket(bucket)
        const state = kept === undefined ? 'unknown' : await openUnlessKept(ask, id, kept)
        if (state === 'kept') return undefined
        return state === 'unknown' ? fileOf(await request(ask, id)) : fileOf(state)
      },
      close: async () => undefined,
    }
  },
}

interface Ask {
  base: URL
  credentials: Record<string, string>
  access: Access
}

/** @returns `kept` when the server confirms it, and `unknown` when its response says nothing about the stored file */
async function openUnlessKept(ask: Ask, id: string, kept: Validators): Promise<Asked | 'kept' | 'unknown'> {
  const asked = await request(ask, id, conditionOf(kept))
  const { status, headers, body } = asked.answer
  if (status !== 304 && status !== 412) return asked
  body.destroy()
  return status === 304 && !asked.isRedirected && confirms(kept, headers) ? 'kept' : 'unknown'
}

interface Asked {
  answer: Opened
  isRedirected: boolean
}

async function request({ base, credentials, access }: Ask, id: string, condition = {}): Promise<Asked> {
  const { fetch, signal, maxFileBytes: maxBytes } = access
  const { href } = urlOf(base, id)
  const answer = await fetch.open(href, { credentials, signal, maxBytes, condition })
  return { answer, isRedirected: answer.url !== href }
}

/** @throws ItemFailure, EgressFailure for a response that is not the file */
function fileOf({ answer: { status, headers, mediaType, body }, isRedirected }: Asked): DriveFile {
  const problem = itemProblem(status)
  if (problem !== undefined) {
    body.destroy()
    throw problem
  }
  // validators of another address do not apply to this one
  const validators = isRedirected ? undefined : validatorsOf(headers)
  return { content: body, validators, ...(mediaType === '' ? {} : { mimeType: mediaType }) }
}

async function listFolder(ask: Ask, { prefix = '', maxKeys }: DriveQuery) {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  const url = folderUrl(ask.base, folder)
  const body = ownBytes(await propfind(ask, url, '1'))
  // one more than requested shows whether there are more
  const listing = { base: ask.base.href, asked: url.href, folder, prefix, most: maxKeys + 1 }
  const entries = await readOnce((thread) => thread.ask('davFolder', body, listing))
  return { isTruncated: entries.length > maxKeys, files: entries.slice(0, maxKeys) }
}

async function propfind({ credentials, access }: Ask, url: URL, depth: '0' | '1'): Promise<Buffer> {
  const { fetch, signal } = access
  const answer = await fetch.get(url.href, {
    method: 'PROPFIND',
    headers: { depth, 'content-type': 'application/xml' },
    body: PROPERTIES,
    credentials,
    signal,
  })
  const problem = placeProblem(answer.status)
  if (problem !== undefined) throw problem
  if (answer.status !== 207) throw new EgressFailure('a response that is not from WebDAV')
  return answer.body
}

function noBucket(bucket: string | undefined): void {
  if (bucket !== undefined && bucket !== '')
    throw new KsError('invalid-request', 'a webdav source has no buckets: omit bucket')
}

function folderUrl(base: URL, folder: string): URL {
  try {
    return urlOf(base, folder)
  } catch (error) {
    if (!(error instanceof ItemFailure)) throw error
    throw new KsError(
      'invalid-request',
      `prefix must be a path below the source, received ${JSON.stringify(folder.slice(0, 200))}`,
    )
  }
}

/** The URL of an id, never outside the folder of the source. @throws ItemFailure */
function urlOf(base: URL, id: string): URL {
  const path = id.split('/').map((part) => encodeURIComponent(part.toWellFormed()))
  const url = new URL(base)
  url.pathname = base.pathname + path.join('/')
  const plain = posix.normalize(`/${id}`) === `/${id}` && !id.startsWith('/')
  if (!plain || !url.pathname.startsWith(base.pathname)) throw new ItemFailure('is outside the location of the source')
  return url
}
