import { createInterface } from 'node:readline'
import { ExitWith } from '../../cli/cli-error.js'
import { toJson } from '../../cli/output.js'
import { writeErr } from '../../cli/terminal-writer.js'
import { EXIT } from '../../contract/errors.js'
import { AnswerPrinter } from '../answer-printer.js'
import type { KchatOptions } from '../options.js'
import { createOutput } from '../output.js'
import { createPrintingListener, handleInterrupt, printSources } from '../send.js'
import type { ChatService } from '../service.js'
import { ClientTurn, getDegradedReasons } from '../turn.js'

/**
 * Sends each nonblank line of stdin as a message of one conversation. Its answer is written to stdout before the next
 * line is read. With `--json`, each answer is one line of JSON. The first failure ends the run with its exit code.
 */
export async function pipeChat(
  chat: ChatService,
  { inputs, conversation }: { inputs: Record<string, string>; conversation: string | undefined },
  options: KchatOptions & { thoughts?: boolean; sources?: boolean },
): Promise<void> {
  const out = createOutput(options)
  let current: ClientTurn | undefined
  const onInterrupt = () => (current === undefined ? process.exit(EXIT.interrupted) : handleInterrupt(current))
  process.on('SIGINT', onInterrupt)
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity })
  let conversationId = conversation
  // A person types at a terminal that shows no view, such as one with TERM=dumb.
  const isTyped = process.stdin.isTTY === true && process.stderr.isTTY === true && options.quiet !== true
  const prompt = () => isTyped && writeErr('> ')
  if (isTyped) writeErr('Each line is a message; Ctrl-D exits.\n')
  prompt()
  try {
    for await (const line of lines) {
      if (line.trim() === '') {
        prompt()
        continue
      }
      const turn = new ClientTurn(chat)
      const printer = new AnswerPrinter((text) => out.prose(text), { showsThoughts: options.thoughts === true })
      current = turn
      const request = { query: line, inputs, conversation_id: conversationId }
      const { answer, sources, lastEvent, ...ids } = await turn.run(request, createPrintingListener(out, printer))
      current = undefined
      conversationId = ids.conversationId ?? conversationId
      if (out.format === 'json') {
        const { event: _, files: __, ...rest } = lastEvent
        out.raw(`${toJson({ ...rest, answer })}\n`)
      } else if (!out.isJson) {
        printer.end()
        printSources(out, printer, sources, { onStdout: options.sources === true })
      }
      out.endProse()
      if (!out.isJson) for (const reason of getDegradedReasons(lastEvent)) out.note(`degraded: ${reason}`)
      if (turn.isStopping) throw new ExitWith(EXIT.interrupted)
      prompt()
    }
    if (isTyped) writeErr('\n')
  } finally {
    out.endProse()
    lines.close()
    process.off('SIGINT', onInterrupt)
  }
}
