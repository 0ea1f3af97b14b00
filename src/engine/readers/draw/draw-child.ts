/**
 * The drawing process: makes previews of pictures and pages, one at a time. Like the parser process, it can read only
 * the files of this program and what its parent sends (see ../child.ts).
 */
import '../../../lib/no-debugger.js'
import { fetchFile } from '../fetch-file.js'
import type { FileChunkReply } from '../file-feed.js'
import { ReadError } from '../limits.js'
import { disableNetwork } from '../no-network.js'
import type { DrawReport, DrawRequest } from './messages.js'

disableNetwork()
const { draw } = await import('./draw.js')

process.on('message', (request: DrawRequest | FileChunkReply) => {
  if ('kind' in request) return
  handleRequest(request)
    .catch((error: unknown): DrawReport => {
      const detail = error instanceof Error ? error.message : String(error)
      if (!(error instanceof ReadError))
        return { kind: 'failed', reason: 'malformed', message: `it is damaged: ${detail.slice(0, 200)}`, spent: true }
      const reason = error.code === 'limit-exceeded' ? 'too-large' : 'malformed'
      return { kind: 'failed', reason, message: error.message, spent: false }
    })
    .then(send, (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    })
})
process.on('disconnect', () => process.exit(0))
send({ kind: 'ready' })

async function handleRequest(request: DrawRequest): Promise<DrawReport> {
  if ('drawing' in request) return { kind: 'drawn', drawn: await draw(request.drawing) }
  const { markPage } = await import('../marks/mark-page.js')
  return { kind: 'marked', marks: await markPage(await fetchFile(0), request.marking) }
}

function send(report: DrawReport): void {
  process.send?.(report)
}
