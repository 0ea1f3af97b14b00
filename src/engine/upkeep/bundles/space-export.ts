import type { EngineContext } from '../../library/index.js'
import type { Snapshot } from '../../store/driver.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import type { BundleRow } from '../rows/bundles/read.js'
import type { BundleWriter } from './bundle-writer.js'

/** A space that is being exported. */
export interface SpaceExport {
  snapshot: Snapshot
  writer: BundleWriter
  space: SpaceRow
  signal: AbortSignal
}

/** Yields to foreground work. @throws the reason for which the export was aborted */
export async function yieldToForeground({ foregroundPriority }: EngineContext, signal: AbortSignal): Promise<void> {
  await foregroundPriority.yieldToQueries()
  signal.throwIfAborted()
}

/** Writes the objects that rows refer to, each once. */
export async function* exportObjects(
  context: EngineContext,
  { writer, signal }: SpaceExport,
  rows: readonly BundleRow[],
) {
  const seen = new Set<string>()
  for (const { sha256, object_key: key, size_bytes: size } of rows) {
    if (typeof sha256 !== 'string' || typeof key !== 'string' || typeof size !== 'number' || seen.has(sha256)) continue
    seen.add(sha256)
    await yieldToForeground(context, signal)
    yield* writer.object(sha256, size, readObjectBytes(context, key))
  }
}

async function* readObjectBytes({ objects }: EngineContext, key: string): AsyncGenerator<Uint8Array> {
  const handle = await objects.open(key)
  // the stream closes the file, however it ends
  yield* handle.createReadStream()
}
