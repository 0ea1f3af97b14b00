import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { DatabaseAddress } from '../../src/local/database-address.js'
import { parseDatabaseAddress } from '../../src/local/database-address.js'
import { ROLE } from './postgres-server.js'

/** A proxy between a gateway and its server that loses commits. */
export interface PostgresProxy {
  address(database: string): DatabaseAddress
  /**
   * Loses the next commit of a transaction that contains this text, before or after it reaches the server. Resolves
   * when that has happened.
   */
  loseCommit(text: string, when: 'after' | 'before'): Promise<void>
  end(): Promise<void>
}

interface Loss {
  text: string
  when: 'after' | 'before'
  done: () => void
}

const BEGIN = 'BEGIN ISOLATION'
const COMMIT = Buffer.from('COMMIT\0')

/** @param folder of the server's socket */
export async function startPostgresProxy(folder: string): Promise<PostgresProxy> {
  const losses: Loss[] = []
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(join(folder, '.s.PGSQL.5432'))
    let sentText = ''
    let losing: Loss | undefined
    const end = () => {
      for (const socket of [client, upstream]) socket.destroy()
    }
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        open.delete(socket)
        end()
      })
    }
    client.on('data', (bytes) => {
      sentText += bytes.toString('latin1')
      sentText = sentText.slice(Math.max(0, sentText.lastIndexOf(BEGIN)))
      const index = losses.findIndex(({ text }) => sentText.includes(text))
      if (bytes.includes(COMMIT)) {
        sentText = ''
        losing = index < 0 ? undefined : losses.splice(index, 1)[0]
      }
      if (losing?.when === 'before') {
        end()
        losing.done()
      } else upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      // Replies before the commit have been read already: each statement awaits its reply.
      if (losing === undefined) return void client.write(bytes)
      end()
      losing.done()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    address: (database) => parseDatabaseAddress(`postgres://${ROLE}@127.0.0.1:${port}/${database}`),
    loseCommit: (text, when) => new Promise((done) => losses.push({ text, when, done })),
    async end() {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
