import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { saveCredential } from '../../cli/credentials.js'
import type { StoredLogin } from '../../cli/json-output/machine.js'
import { askSecret } from '../../cli/prompt.js'
import { readStdin } from '../../cli/stdin.js'
import { Client } from '../../client/client.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class AuthLogin extends BaseCommand {
  static override summary = 'store a token for a service; it is sent to that origin only'
  static override examples = [
    '<%= config.bin %> auth login --url https://kb.example.com < token.txt',
    '<%= config.bin %> auth login --context work',
  ]

  async run(): Promise<void> {
    await this.parse(AuthLogin)
    const location = this.settings.service.value
    if (location.kind === 'local') {
      throw usageError('the local daemon needs no login', 'give `--url URL` or `--context NAME`')
    }
    const origin = new URL(location.url).origin
    const token = (await this.readToken(origin)).trim()
    if (token === '' || /\s/.test(token)) throw usageError('a token has no spaces')
    const client = new Client({ url: location.url, token })
    try {
      await client.request('GET /knowledge-spaces', { query: { limit: 1 } })
    } finally {
      client.close()
    }
    saveCredential(this.dirs.config, { origin, token, ...omitUndefined({ context: location.context }) })
    if (this.out.isJson) this.out.json({ origin, stored: true } satisfies StoredLogin)
    else this.out.note(`Stored a token for ${origin}.`)
  }

  private async readToken(origin: string): Promise<string> {
    if (!process.stdin.isTTY) return await readStdin('the token')
    if (!this.prompt.interactive) throw usageError('the token cannot be prompted for here', 'pass it on stdin')
    return await askSecret(`Token for ${origin}: `)
  }
}
