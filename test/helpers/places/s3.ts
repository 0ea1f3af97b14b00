import { mkdtempSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import S3rver from 's3rver'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import type { RemoteServer } from './place.js'

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
const KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

/** Starts a server that speaks S3, with a bucket `docs`; the source is its prefix `notes/`. */
export async function startS3(): Promise<RemoteServer & { client: S3Client; endpoint: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'ks-s3-'))
  const requests: string[] = []
  const server = new S3rver({
    address: '127.0.0.2',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'docs', configs: [] }],
  })
  server.middleware.unshift(async (context, next) => {
    requests.push(`${context.method} ${context.url}`)
    await next()
  })
  const { port } = await new Promise<AddressInfo>((resolve, reject) =>
    server.run((error, address) => (error === null || error === undefined ? resolve(address) : reject(error))),
  )
  const endpoint = `http://127.0.0.2:${port}`
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials: { ...KEYS } })
  const key = (name: string) => ({ Bucket: 'docs', Key: `notes/${name}` })
  return {
    type: 'object-storage',
    uri: `${endpoint}/docs/notes/`,
    requests,
    client,
    endpoint,
    metadata: { provider: 's3', credentials: { ...KEYS } },
    refusedMetadata: { provider: 's3', credentials: { ...KEYS, accessKeyId: 'wrong' } },
    put: async (name, text) => void (await client.send(new PutObjectCommand({ ...key(name), Body: text }))),
    remove: async (name) => void (await client.send(new DeleteObjectCommand(key(name)))),
    async end() {
      client.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      removeFolder(directory)
    },
  }
}
