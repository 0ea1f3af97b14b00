import { createServer, type IncomingMessage, request as send } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

export interface RecordingProxy {
  /** `http://127.0.0.1:PORT` */
  url: string
  /** first lines of the requests, without the protocol: `CONNECT name:443`, `GET http://name/path` */
  seen: string[]
  /** the values of `proxy-authorization` */
  credentials: (string | undefined)[]
  end(): Promise<void>
}

/** Starts an HTTP proxy that maps every host to a port of this machine. @param refusal status of `CONNECT`, if refused */
export async function startRecordingProxy(port: number, refusal?: string): Promise<RecordingProxy> {
  const seen: string[] = []
  const credentials: (string | undefined)[] = []
  const record = ({ method, url, headers }: IncomingMessage) => {
    seen.push(`${method} ${url}`)
    credentials.push(headers['proxy-authorization'])
  }
  const server = createServer((request, response) => {
    record(request)
    const { pathname, search } = new URL(request.url ?? '', 'http://origin')
    const { method, headers } = request
    const onward = send({ host: '127.0.0.1', port, method, path: pathname + search, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  server.on('connect', (request, socket) => {
    record(request)
    if (refusal !== undefined) return void socket.end(`HTTP/1.1 ${refusal}\r\ncontent-length: 0\r\n\r\n`)
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    for (const one of [socket, onward]) one.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    credentials,
    end: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
