import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { startStrictS3 } from '../helpers/places/strict-s3.js'

/** A fault between gateways and their storage: none, status 503, or dropped connections. */
export type StorageFault = 'none' | 'unavailable' | 'drops'

export interface FaultyStorage {
  /** the address for a gateway */
  address: string
  /** credentials */
  env: Record<string, string>
  fault(fault: StorageFault): void
  end(): Promise<void>
}

const UNAVAILABLE = 'HTTP/1.1 503 Slow Down\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'

/** A server that speaks S3 and stores complete objects or none, behind a proxy that can fail. */
export async function startStorage(): Promise<FaultyStorage> {
  const s3 = await startStrictS3()
  const { hostname, port } = new URL(s3.place.endpoint)
  const open = new Set<Socket>()
  let now: StorageFault = 'none'
  const proxy = createServer((client) => {
    open.add(client)
    client.on('error', () => undefined)
    client.on('close', () => open.delete(client))
    if (now === 'drops') client.destroy()
    else if (now === 'unavailable') client.once('data', () => client.end(UNAVAILABLE))
    else {
      const upstream = connect(Number(port), hostname)
      upstream.on('error', () => client.destroy())
      client.on('close', () => upstream.destroy())
      client.pipe(upstream).pipe(client)
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port: own } = proxy.address() as AddressInfo
  return {
    address: `s3://${s3.place.bucket}/cluster?endpoint=http://127.0.0.1:${own}`,
    env: s3.env,
    fault(fault) {
      now = fault
      // Connections that are already open would not be affected.
      if (fault !== 'none') for (const client of open) client.destroy()
    },
    async end() {
      for (const client of open) client.destroy()
      await new Promise((resolve) => proxy.close(resolve))
      await s3.end()
    },
  }
}
