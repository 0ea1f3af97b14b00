import { BaseCommand } from '../../cli/base-command.js'
import { CliError, usageError } from '../../cli/cli-error.js'
import { removeCredential } from '../../cli/credentials.js'
import type { DeletedLogin } from '../../cli/json-output/machine.js'
import { EXIT } from '../../contract/errors.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class AuthLogout extends BaseCommand {
  static override summary = 'delete the stored token of a service'
  static override examples = ['<%= config.bin %> auth logout --url https://kb.example.com']

  async run(): Promise<void> {
    await this.parse(AuthLogout)
    const location = this.settings.service.value
    if (location.kind === 'local') {
      throw usageError('the local daemon needs no login', 'give `--url URL` or `--context NAME`')
    }
    const { origin } = new URL(location.url)
    if (!removeCredential(this.dirs.config, { origin, ...omitUndefined({ context: location.context }) })) {
      throw new CliError(`no token is stored for ${origin}`, { code: 'not-found', exit: EXIT.notFound })
    }
    if (this.out.isJson) this.out.json({ origin, deleted: true } satisfies DeletedLogin)
    else this.out.note(`Deleted the token for ${origin}.`)
  }
}
