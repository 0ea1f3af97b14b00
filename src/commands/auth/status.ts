import { BaseCommand } from '../../cli/base-command.js'
import { tokenClaims } from '../../cli/token-claims.js'

export default class AuthStatus extends BaseCommand {
  static override summary = 'show the current token: its subject, expiry and whether the service accepts it'
  static override examples = ['<%= config.bin %> auth status', '<%= config.bin %> auth status --context work']

  async run(): Promise<void> {
    await this.parse(AuthStatus)
    const { value: place, origin } = this.settings.place
    const client = await this.client()
    const { token = '' } = client.transport.target
    const { expiresAt, ...claims } = tokenClaims(token)
    const where = place.kind === 'local' ? { service: 'local', dataDir: place.dataDir } : { service: place.url }
    const spaces = await client.request('GET /knowledge-spaces', { query: { limit: 1 } })
    this.out.record({
      ...where,
      chosenBy: origin,
      ...claims,
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
      accepted: Array.isArray(spaces.items),
    })
  }
}
