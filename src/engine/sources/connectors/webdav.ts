import { posix } from 'node:path'
import { KsError } from '../../../contract/errors.js'
import { EgressFailure } from '../../egress/failure.js'
import { webHeaders } from '../content.js'
import { type Access, type ConnectorModule, type DriveConnection, type DriveQuery, ItemFailure } from './connector.js'
import { httpUrl, itemProblem, onlyParameters, placeProblem } from './place.js'
import { type DavEntry, parseMultistatus } from './webdav-xml.js'

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
      async open({ id, bucket }) {
        noBucket(bucket)
        const { fetch, signal, maxFileBytes: maxBytes } = access
        const answer = await fetch.open(urlOf(base, id).href, { credentials, signal, maxBytes })
        const problem = itemProblem(answer.status)
        if (problem !== undefined) {
          answer.body.destroy()
          throw problem
        }
        return { content: answer.body, ...(answer.mediaType === '' ? {} : { mimeType: answer.mediaType }) }
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

async function listFolder(ask: Ask, { prefix = '', maxKeys }: DriveQuery) {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  const url = folderUrl(ask.base, folder)
  const entries = (await propfind(ask, url, '1'))
    .flatMap(({ href, isFolder, size }) => {
      const id = idOf(ask.base, url, href)
      if (id === undefined || id === folder || !id.startsWith(prefix)) return []
      // what is listed is directly below the folder
      const name = id.slice(folder.length).replace(/\/$/, '')
      if (name === '' || name.includes('/')) return []
      const about = isFolder || size === undefined ? {} : { size }
      return [{ id: isFolder ? `${folder}${name}/` : id, name, type: isFolder ? 'folder' : 'file', ...about }]
    })
    .sort((one, other) => (one.id < other.id ? -1 : 1))
  return { isTruncated: entries.length > maxKeys, files: entries.slice(0, maxKeys) }
}

async function propfind({ credentials, access }: Ask, url: URL, depth: '0' | '1'): Promise<DavEntry[]> {
  const { fetch, signal } = access
  const answer = await fetch.get(url.href, {
    ...{ method: 'PROPFIND', headers: { depth, 'content-type': 'application/xml' }, body: PROPERTIES },
    ...{ credentials, signal },
  })
  const problem = placeProblem(answer.status)
  if (problem !== undefined) throw problem
  if (answer.status !== 207) throw new EgressFailure('an answer that is not of WebDAV')
  return parseMultistatus(answer.body.toString('utf8'))
}

function noBucket(bucket: string | undefined): void {
  if (bucket !== undefined && bucket !== '')
    throw new KsError('invalid-request', 'a webdav source has no buckets: bucket must be left out')
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

/** The address of an id: never one outside the folder of the source. @throws ItemFailure */
function urlOf(base: URL, id: string): URL {
  const path = id.split('/').map((part) => encodeURIComponent(part.toWellFormed()))
  const url = new URL(base)
  url.pathname = base.pathname + path.join('/')
  const plain = posix.normalize(`/${id}`) === `/${id}` && !id.startsWith('/')
  if (!plain || !url.pathname.startsWith(base.pathname)) throw new ItemFailure('is outside the place of the source')
  return url
}

/** The path below the source's folder that a server's `href` means; undefined for one that leads elsewhere. */
function idOf(base: URL, asked: URL, href: string): string | undefined {
  if (!URL.canParse(href, asked.href)) return undefined
  const url = new URL(href, asked)
  if (url.origin !== base.origin || !url.pathname.startsWith(base.pathname)) return undefined
  try {
    return decodeURIComponent(url.pathname.slice(base.pathname.length))
  } catch {
    return undefined
  }
}
