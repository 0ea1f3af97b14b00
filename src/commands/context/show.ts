import { BaseCommand } from '../../cli/base-command.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class ContextShow extends BaseCommand {
  static override summary = 'show the service that commands use here, and why'
  static override examples = ['<%= config.bin %> context show']

  async run(): Promise<void> {
    await this.parse(ContextShow)
    const { service: location, space, project } = this.settings
    const target =
      location.value.kind === 'local'
        ? { context: 'local', dataDir: location.value.dataDir }
        : { context: location.value.context, url: location.value.url, hasToken: location.value.token !== undefined }
    this.out.record({
      ...target,
      chosenBy: location.origin,
      ...omitUndefined({ space: space?.value, spaceChosenBy: space?.origin, projectFile: project?.path }),
    })
  }
}
