import { posix } from 'node:path'
import { Readable } from 'node:stream'
import type * as Sdk from '@aws-sdk/client-s3'
import { KsError } from '../../../../contract/errors.js'
import type { OnlineDriveFiles } from '../../../../contract/gateway/sources.js'
import { omitUndefined } from '../../../../lib/omit-undefined.js'
import { EgressFailure, extractValidators } from '../../../models/index.js'
import { getHttpStatus, loadS3Sdk } from '../../../store/object-s3-client.js'
import {
  type ConnectorAccess,
  type ConnectorModule,
  type DriveConnection,
  type DriveQuery,
  ItemFailure,
  type SourceLocation,
} from './connector.js'
import {
  assertCredentialKeys,
  assertParameters,
  decodePath,
  getCredentialText,
  getTextParameter,
  parseHttpUrl,
  toItemFailure,
  toLocationFailure,
} from './location.js'
import { guardedHandler } from './s3-handler.js'

/** No ARN, no access point, no express bucket: with those names the client uses other hosts. */
const BUCKET = /^(?!.*--)[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/
const REGION = /^[a-z0-9-]{1,64}$/
const DEFAULT_REGION = 'us-east-1'
const MAX_ATTEMPTS = 3

type S3Folder = OnlineDriveFiles['buckets'][number]

/** S3 and compatible servers, with path-style addresses. */
export const s3Connector: ConnectorModule<DriveConnection> = {
  check(location) {
    parseAddress(location)
    getKeys(location)
  },
  connect(location, access) {
    const address = parseAddress(location)
    let loading: Promise<LoadedS3Client> | undefined
    const getClient = () => {
      loading ??= loadS3Client(location, address, access)
      return loading
    }
    return {
      async test() {
        const { client, sdk } = await getClient()
        await callS3(toLocationFailure, () =>
          address.bucket === undefined
            ? client.send(new sdk.ListBucketsCommand({}))
            : // a complete page, like listings: also works with a server without partial pages
              client.send(
                new sdk.ListObjectsV2Command({ Bucket: address.bucket, Prefix: address.prefix, Delimiter: '/' }),
              ),
        )
      },
      resolveBucket({ bucket: requestedBucket }) {
        const bucket = resolveBucket(address, requestedBucket)
        return { ...omitUndefined({ bucket }), isNamedBySource: address.bucket !== undefined }
      },
      async list(query) {
        const bucket = resolveBucket(address, query.bucket)
        return bucket === undefined
          ? listBuckets(await getClient())
          : [await listKeys(await getClient(), address, bucket, query)]
      },
      async open({ id, bucket: requestedBucket }, stored) {
        const bucket = resolveBucket(address, requestedBucket)
        if (bucket === undefined) throw new ItemFailure('has no bucket')
        if (!id.startsWith(address.prefix)) throw new ItemFailure('is outside the location of the source')
        const { client, sdk } = await getClient()
        // every object of S3 has a tag
        const condition = stored?.etag === undefined ? {} : { IfNoneMatch: stored.etag }
        const found = await callS3(toItemFailure, () =>
          client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: id, ...condition })).catch(unlessNotModified),
        )
        if (found === undefined) return undefined
        const { Body: body, ContentType: type, ETag: etag = '' } = found
        if (!(body instanceof Readable)) throw new ItemFailure('has no content')
        const validators = extractValidators({ etag })
        return { content: checkComplete(body), validators, ...omitUndefined({ mimeType: type }) }
      },
      close: async () => (await loading)?.client.destroy(),
    }
  },
}

interface S3Address {
  endpoint: string
  region: string
  bucket: string | undefined
  prefix: string
}

interface LoadedS3Client {
  sdk: typeof Sdk
  client: Sdk.S3Client
}

/** `s3://bucket/prefix` of AWS, or an endpoint's URL with the bucket and prefix as its path. @throws KsError */
function parseAddress(location: SourceLocation): S3Address {
  assertParameters(location, ['region'], 'an s3 source')
  const region = getTextParameter(location, 'region', REGION) ?? DEFAULT_REGION
  const short = /^s3:\/\/([^/?#]*)\/?(.*)$/s.exec(location.uri)
  if (short !== null)
    return inBucket({ endpoint: `https://s3.${region}.amazonaws.com`, region, prefix: short[2] ?? '' }, short[1] ?? '')
  const url = parseHttpUrl(location.uri, 'an s3 source')
  const [bucket = '', ...rest] = decodePath(url).slice(1).split('/')
  const prefix = location.uri.endsWith('/') ? rest.join('/') : rest.join('/').slice(0, -1)
  return inBucket({ endpoint: url.origin, region, prefix }, bucket)
}

function inBucket(address: Omit<S3Address, 'bucket'>, bucket: string): S3Address {
  if (bucket === '') return { ...address, bucket: undefined, prefix: '' }
  if (!BUCKET.test(bucket))
    throw new KsError(
      'invalid-request',
      `uri of an s3 source must name a bucket, received ${JSON.stringify(bucket.slice(0, 100))}`,
    )
  return { ...address, bucket }
}

function getKeys({ credentials }: SourceLocation) {
  assertCredentialKeys(credentials, ['accessKeyId', 'secretAccessKey', 'sessionToken'], 'an s3 source')
  const accessKeyId = getCredentialText(credentials, 'accessKeyId')
  const secretAccessKey = getCredentialText(credentials, 'secretAccessKey')
  const sessionToken = getCredentialText(credentials, 'sessionToken')
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw new KsError('invalid-request', 'metadata.credentials of an s3 source must be {accessKeyId, secretAccessKey}')
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return { accessKeyId, secretAccessKey, ...omitUndefined({ sessionToken }) }
}

/** All settings are explicit: otherwise the client would look for them in the environment of the daemon. */
async function loadS3Client(
  location: SourceLocation,
  { endpoint, region }: S3Address,
  { fetch, signal, maxFileBytes }: ConnectorAccess,
): Promise<LoadedS3Client> {
  const sdk = await loadS3Sdk()
  const keys = getKeys(location)
  const client = new sdk.S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: keys ?? { accessKeyId: 'anonymous', secretAccessKey: 'anonymous' },
    ...(keys === undefined ? { signer: { sign: async (request) => request } } : {}),
    requestHandler: guardedHandler(fetch, { signal, maxBytes: maxFileBytes }),
    maxAttempts: MAX_ATTEMPTS,
    retryMode: 'standard',
    defaultsMode: 'standard',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    useArnRegion: false,
    disableS3ExpressSessionAuth: true,
    disableMultiregionAccessPoints: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    userAgentAppId: 'knowledge-spaces',
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  return { sdk, client }
}

/** @throws KsError `invalid-request` for a bucket outside of the source */
function resolveBucket({ bucket: own }: S3Address, requested: string | undefined): string | undefined {
  if (requested === undefined || requested === '' || requested === own) return own
  if (own === undefined && BUCKET.test(requested)) return requested
  const rule = own === undefined ? 'the name of a bucket' : JSON.stringify(own)
  throw new KsError('invalid-request', `bucket must be ${rule}, received ${JSON.stringify(requested.slice(0, 100))}`)
}

async function listBuckets({ client, sdk }: LoadedS3Client): Promise<S3Folder[]> {
  const { Buckets: buckets = [] } = await callS3(toLocationFailure, () => client.send(new sdk.ListBucketsCommand({})))
  return buckets.flatMap(({ Name: bucket }) =>
    bucket === undefined ? [] : [{ bucket, isTruncated: false, files: [] }],
  )
}

async function listKeys(
  { client, sdk }: LoadedS3Client,
  address: S3Address,
  bucket: string,
  query: DriveQuery,
): Promise<S3Folder> {
  const prefix = query.prefix || address.prefix
  if (!prefix.startsWith(address.prefix))
    throw new KsError(
      'invalid-request',
      `prefix must begin with ${JSON.stringify(address.prefix)}, the location of the source`,
    )
  const found = await callS3(toLocationFailure, () =>
    client.send(
      new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, Delimiter: '/', MaxKeys: query.maxKeys }),
    ),
  )
  const folders = (found.CommonPrefixes ?? []).flatMap(({ Prefix: id }) =>
    id === undefined ? [] : [{ id, name: posix.basename(id), type: 'folder' }],
  )
  const files = (found.Contents ?? []).flatMap(({ Key: id, Size: size }) =>
    // the marker object that some tools create for a folder is not a file
    id === undefined || id.endsWith('/')
      ? []
      : [{ id, name: posix.basename(id), type: 'file', ...omitUndefined({ size }) }],
  )
  const entries = [...folders, ...files]
  // some servers do not count folders
  const isTruncated = found.IsTruncated === true || entries.length > query.maxKeys
  return { bucket, isTruncated, files: entries.slice(0, query.maxKeys) }
}

/** Fails if the end or checksum of a body is missing. */
function checkComplete(body: Readable): Readable {
  const content = Readable.from(
    (async function* () {
      try {
        yield* body
      } catch (error) {
        throw error instanceof EgressFailure ? error : new ItemFailure('was not received completely')
      }
    })(),
    { objectMode: false },
  )
  content.once('close', () => body.on('error', () => undefined).destroy())
  return content
}

/** Converts errors of the SDK to our texts. */
async function callS3<T>(problem: (status: number) => Error | undefined, request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof EgressFailure || error instanceof KsError) throw error
    const status = getHttpStatus(error)
    // other errors concern the account or the bucket, not one file
    const isItemError = error instanceof Error && ['AccessDenied', 'NoSuchKey', 'NotFound'].includes(error.name)
    const failure = status === undefined ? undefined : (isItemError ? problem : toLocationFailure)(status)
    throw failure ?? new EgressFailure('a response that is not from S3')
  }
}

/** The SDK throws for a 304 response to a condition. */
function unlessNotModified(error: unknown): undefined {
  if (getHttpStatus(error) !== 304) throw error
}
