import { EXIT } from '../../contract/errors.js'
import type { Watch } from '../../contract/gateway/local-files.js'
import { CliError, usageError } from '../cli-error.js'
import type { OutputColumn } from '../columns.js'
import type { ConfiguredService } from '../contexts.js'
import { hasIdTail } from '../recent-ids.js'

export const WATCH_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'folder', kind: 'name' },
  { field: 'knowledgeSpaceId', title: 'SPACE', kind: 'id' },
  { field: 'state', kind: 'state' },
  { field: 'files', kind: 'count' },
  { field: 'lastSyncAt', title: 'LAST CHANGE', kind: 'time' },
]

/** Rejects remote services: only the local daemon can watch folders. @throws CliError exit 2 */
export function checkLocal(service: ConfiguredService): void {
  if (service.kind === 'local') return
  throw usageError(
    `${service.url} cannot watch folders of this machine`,
    '`ks watch FOLDER` watches them while it runs',
  )
}

/**
 * Finds a watch by its id, the end of its id (`text`), or its folder (an absolute path).
 *
 * @throws CliError exit 5 if none matches, exit 2 if several do
 */
export function findWatch(
  watches: readonly Watch[],
  { text, folder, spaceId }: { text: string; folder: string; spaceId: string | undefined },
): Watch {
  const tail = /^#?([0-9a-f]{8})$/i.exec(text)?.[1]?.toLowerCase()
  const matches = watches.filter(
    (watch) =>
      (spaceId === undefined || watch.knowledgeSpaceId === spaceId) &&
      (watch.id === text || watch.folder === folder || (tail !== undefined && hasIdTail(watch.id, tail))),
  )
  const [only, second] = matches
  if (only === undefined) {
    throw new CliError(`${JSON.stringify(text)} is not watched`, {
      code: 'not-found',
      exit: EXIT.notFound,
      hint: '`ks watch` shows all watches',
    })
  }
  if (second !== undefined) throw usageError(`${folder} is watched for several spaces`, 'select one with `--space`')
  return only
}
