import { ExitWith } from '../../cli/cli-error.js'
import type { KchatOptions } from '../options.js'
import { parseInputs } from '../send.js'
import { openChat } from '../service.js'
import { findContinuedConversation } from '../turn.js'

export interface ChatOptions extends KchatOptions {
  /** in a pipe, also print the model's thoughts */
  thoughts?: boolean
  /** in a pipe, print the sources on stdout */
  sources?: boolean
  conversation?: string
  input?: string[]
}

/**
 * `kchat chat`: a view if stdin and stdout are terminals, else a pipe. Ink is loaded for the view only.
 *
 * @throws CliError, ApiError, ConnectionError
 */
export async function runChat(options: ChatOptions): Promise<void> {
  const inputs = parseInputs(options.input ?? [])
  const hasFormat =
    [options.format, options.jq, options.template].some((option) => option !== undefined) || options.json === true
  const isView =
    process.stdin.isTTY === true && process.stdout.isTTY === true && process.env.TERM !== 'dumb' && !hasFormat
  const chat = await openChat(options)
  try {
    const conversation = await findContinuedConversation(chat, options.conversation)
    if (isView) {
      // With these variables, ink draws only at the end. This is a terminal, so they are removed.
      for (const name of ['CI', 'CONTINUOUS_INTEGRATION']) delete process.env[name]
      const { showChat } = await import('./view.js')
      const exitCode = await showChat(chat, { inputs, conversation })
      if (exitCode !== 0) throw new ExitWith(exitCode)
    } else {
      const { pipeChat } = await import('./pipe.js')
      await pipeChat(chat, { inputs, conversation }, options)
    }
  } finally {
    chat.close()
  }
}
