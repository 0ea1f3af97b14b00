import { ExitWith } from '../../cli/cli-error.js'
import type { Common } from '../options.js'
import { inputsOf } from '../send.js'
import { openChat } from '../service.js'
import { conversationNamed } from '../turn.js'

export interface ChatOptions extends Common {
  /** in a pipe, also print the model's thoughts */
  thoughts?: boolean
  conversation?: string
  input?: string[]
}

/**
 * `kchat chat`: a view if stdin and stdout are terminals, else a pipe. Ink is loaded for the view only.
 *
 * @throws CliError, ApiError, ConnectionError
 */
export async function chat(options: ChatOptions): Promise<void> {
  const inputs = inputsOf(options.input ?? [])
  const asked = [options.format, options.jq, options.template].some((one) => one !== undefined) || options.json === true
  const isView = process.stdin.isTTY === true && process.stdout.isTTY === true && process.env.TERM !== 'dumb' && !asked
  const service = await openChat(options)
  try {
    const conversation = await conversationNamed(service, options.conversation)
    if (isView) {
      // With these variables, ink draws only at the end. This is a terminal, so they are removed.
      for (const name of ['CI', 'CONTINUOUS_INTEGRATION']) delete process.env[name]
      const { showChat } = await import('./view.js')
      const exit = await showChat(service, { inputs, conversation })
      if (exit !== 0) throw new ExitWith(exit)
    } else {
      const { pipeChat } = await import('./pipe.js')
      await pipeChat(service, { inputs, conversation }, options)
    }
  } finally {
    service.close()
  }
}
