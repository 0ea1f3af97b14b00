import type { LayoutInput, LayoutUpdate } from './layout-messages.js'

/** Computes a layout in a worker. @returns function that aborts it */
export function startLayout(input: LayoutInput, onUpdate: (update: LayoutUpdate) => void): () => void {
  const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
  worker.addEventListener('message', ({ data }: MessageEvent<LayoutUpdate>) => {
    onUpdate(data)
    if (data.isLast) worker.terminate()
  })
  worker.postMessage(input)
  return () => worker.terminate()
}
