import { BaseCommand } from '../../cli/base-command.js'
import type { TokenStatus } from '../../cli/json-output/machine.js'
import { parseTokenClaims } from '../../cli/token-claims.js'

export default class AuthStatus extends BaseCommand {
  static override summary = 'show the current token: its subject, expiry and whether the service accepts it'
  static override examples = ['<%= config.bin %> auth status', '<%= config.bin %> auth status --context work']

  async run(): Promise<void> {
    await this.parse(AuthStatus)
    const { value: location, origin } = this.settings.service
    const client = await this.client()
    const { token = '' } = client.transport.target
    const { expiresAt, ...claims } = parseTokenClaims(token)
    const target =
      location.kind === 'local' ? { service: 'local', dataDir: location.dataDir } : { service: location.url }
    const spaces = await client.request('GET /knowledge-spaces', { query: { limit: 1 } })
    this.out.record({
      ...target,
      chosenBy: origin,
      ...claims,
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
      accepted: Array.isArray(spaces.items),
    } satisfies TokenStatus)
  }
}
