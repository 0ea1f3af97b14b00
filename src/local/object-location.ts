/** Location of objects that are not files of the data directory: a bucket of an S3 server. */
export interface ObjectLocation {
  bucket: string
  /** empty, or ends with a slash */
  prefix: string
  region: string
  /** absent: AWS */
  endpoint?: string
}

/** Excludes ARNs, access points and express buckets: with those names the client connects to other servers. */
const BUCKET = /^(?!.*--)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const PREFIX = /^([A-Za-z0-9_.-]+\/)*$/
const REGION = /^[a-z0-9-]{1,64}$/
const FORM = 's3://bucket/prefix, with ?endpoint=https://host:port and ?region=name where it is not AWS'
const DEFAULT_REGION = 'us-east-1'

/**
 * Parses `s3://bucket/prefix?endpoint=…&region=…`. @throws Error with the rule, without the text: it may contain a
 * secret
 */
export function parseObjectLocation(text: string): ObjectLocation {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 's3:') throw new Error(FORM)
  if (url.username !== '' || url.password !== '')
    throw new Error('an address without credentials, which come from the environment or from files')
  const { searchParams: parameters } = url
  if (
    [...parameters.keys()].some((name) => name !== 'endpoint' && name !== 'region') ||
    url.hash !== '' ||
    url.port !== ''
  )
    throw new Error(FORM)
  const path = url.pathname.replace(/^\/+|\/+$/g, '')
  const prefix = path === '' ? '' : `${path}/`
  const region = parameters.get('region') ?? DEFAULT_REGION
  if (!BUCKET.test(url.hostname) || !PREFIX.test(prefix) || !REGION.test(region)) throw new Error(FORM)
  if (prefix.split('/').some((part) => part === '.' || part === '..')) throw new Error(FORM)
  const endpoint = parameters.get('endpoint')
  return { bucket: url.hostname, prefix, region, ...(endpoint === null ? {} : { endpoint: parseEndpoint(endpoint) }) }
}

function parseEndpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.username === '' && url.password === '' && url.pathname === '/' && url.search === ''
  if (url === undefined || !isPlain || !/^https?:$/.test(url.protocol)) throw new Error(FORM)
  return url.origin
}

/** Formats a location for people. */
export function formatObjectLocation({ bucket, prefix, endpoint }: ObjectLocation): string {
  return `s3://${bucket}/${prefix}${endpoint === undefined ? '' : ` at ${endpoint}`}`
}
