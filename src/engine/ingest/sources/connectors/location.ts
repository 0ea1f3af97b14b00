import { KsError } from '../../../../contract/errors.js'
import { EgressFailure } from '../../../models/index.js'
import { ItemFailure, type SourceLocation } from './connector.js'

/** Parses the URL of a location; its path ends in a slash. @throws KsError `invalid-request` */
export function parseHttpUrl(uri: string, what: string): URL {
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.search !== '')
    throw new KsError(
      'invalid-request',
      `uri of ${what} must be an http or https URL without a query, received ${JSON.stringify(uri.slice(0, 200))}`,
    )
  url.hash = ''
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

/** @throws KsError `invalid-request` for a path that is not UTF-8 */
export function decodePath(url: URL): string {
  try {
    return decodeURIComponent(url.pathname)
  } catch {
    throw new KsError(
      'invalid-request',
      `uri must have a path in UTF-8, received ${JSON.stringify(url.pathname.slice(0, 200))}`,
    )
  }
}

/** A text of `metadata.parameters`. @throws KsError `invalid-request` for an invalid one */
export function getTextParameter({ parameters }: SourceLocation, name: string, rule: RegExp): string | undefined {
  const value = parameters.get(name)
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && rule.test(value)) return value
  const received = (JSON.stringify(value) ?? 'nothing').slice(0, 100)
  throw new KsError(
    'invalid-request',
    `metadata.parameters.${name} must be a text in the valid format, received ${received}`,
  )
}

/** @throws KsError `invalid-request` for a parameter that the connector does not support */
export function assertParameters({ parameters }: SourceLocation, names: readonly string[], what: string): void {
  const unknown = [...parameters.keys()].find((name) => !names.includes(name))
  if (unknown === undefined) return
  const known = names.length === 0 ? 'none' : names.join(', ')
  throw new KsError(
    'invalid-request',
    `metadata.parameters of ${what} may contain ${known}, received ${JSON.stringify(unknown.slice(0, 100))}`,
  )
}

/** A text of the credentials; error messages contain no value. @throws KsError `invalid-request` */
export function getCredentialText(credentials: SourceLocation['credentials'], name: string): string | undefined {
  const value = credentials?.[name]
  if (value === undefined) return undefined
  if (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) return value
  throw new KsError('invalid-request', `metadata.credentials.${name} must be a text of ASCII characters without spaces`)
}

/** @throws KsError `invalid-request` when there are other keys than these */
export function assertCredentialKeys(
  credentials: SourceLocation['credentials'],
  names: readonly string[],
  what: string,
): void {
  if (Object.keys(credentials ?? {}).every((name) => names.includes(name))) return
  throw new KsError(
    'invalid-request',
    `metadata.credentials of ${what} may contain ${names.join(', ')} and nothing else`,
  )
}

/** The failure of one item that a response status means; undefined for success. */
export function toItemFailure(status: number): ItemFailure | EgressFailure | undefined {
  // an unrequested part
  if (status === 206) return new ItemFailure('was not received completely')
  if (status < 300) return undefined
  if (status === 404 || status === 410) return new ItemFailure('does not exist')
  if (status === 403) return new ItemFailure('may not be read with these credentials')
  if (status === 400 || status === 414 || status === 422) return new ItemFailure(`answered ${status}`)
  return toLocationFailure(status)
}

/** The failure of the location that a response status means; undefined for success. */
export function toLocationFailure(status: number): EgressFailure | undefined {
  if (status < 300) return undefined
  if (status === 401 || status === 403)
    return new EgressFailure(`the credentials are not accepted (answered ${status})`)
  return new EgressFailure(`answered ${status}`)
}
