import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import { EXIT } from '../contract/errors.js'

export default class Health extends BaseCommand {
  static override summary = 'show the health of the service and its components; exits with 8 if unhealthy'
  static override examples = ['<%= config.bin %> health', '<%= config.bin %> health --format json']

  async run(): Promise<void> {
    await this.parse(Health)
    const client = await this.client()
    const health = await client.request('GET /health', {})
    if (this.out.isJson) this.out.json(health)
    else {
      const components = Object.entries(health.components).map(([component, ok]) => ({
        component,
        state: ok ? 'ok' : 'failed',
      }))
      await this.out.list(components, {
        columns: [{ field: 'component' }, { field: 'state', kind: 'state' }],
        empty: health.ok ? 'The service is healthy.' : 'The service is unhealthy.',
      })
    }
    if (!health.ok) throw new ExitWith(EXIT.unavailable)
  }
}
