import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { openInBrowser, requestConsoleAddress } from '../cli/console-address.js'
import type { ConsoleOutput } from '../cli/json-output/machine.js'
import { omitUndefined } from '../lib/omit-undefined.js'

export default class Console extends BaseCommand {
  static override summary = 'open the console of the service in the browser'
  static override description =
    'The printed address is signed in: it works once, for one tab, within a minute. If the token is not that of the daemon operator, the page asks for a token.'
  static override examples = ['<%= config.bin %> console', '<%= config.bin %> console --no-open']
  static override flags = {
    'no-open': Flags.boolean({ description: 'print the address without opening a browser' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Console)
    const { url, expiresInSeconds, sessionId } = await requestConsoleAddress(await this.client())
    const signedIn = expiresInSeconds !== undefined
    if (this.out.isJson) this.out.json({ url, signedIn, ...omitUndefined({ sessionId }) } satisfies ConsoleOutput)
    else this.out.line(url)
    if (sessionId !== undefined) this.out.note(`\`ks auth token --revoke ${sessionId}\` ends the session of this tab`)
    if (flags['no-open']) return
    if (!(await openInBrowser(url, this.dirs.data)))
      this.out.warn('ks: no browser could be opened; open the address above in a browser')
  }
}
