export type CallPriority = 'urgent' | 'background'

/** Limits the number of concurrent calls of one provider. */
export interface ProviderSlots {
  /**
   * Waits for a free slot. Calls that a request waits for are urgent and start before background calls.
   *
   * @returns the function that releases the slot
   * @throws the signal's reason when it aborts first
   */
  acquire(priority: CallPriority, signal: AbortSignal): Promise<() => void>
}

// own queue rather than p-limit: a query must overtake a hundred queued document batches, and leave when aborted
export function createProviderSlots(size: number): ProviderSlots {
  const queues: Record<CallPriority, Set<() => void>> = { urgent: new Set(), background: new Set() }
  let running = 0

  const startNext = () => {
    for (const queue of [queues.urgent, queues.background]) {
      for (const start of queue) {
        queue.delete(start)
        start()
        return
      }
    }
  }
  const occupy = () => {
    running++
    let isOccupied = true
    return () => {
      if (!isOccupied) return
      isOccupied = false
      running--
      startNext()
    }
  }

  return {
    acquire(priority, signal) {
      if (signal.aborted) return Promise.reject(signal.reason)
      if (running < size) return Promise.resolve(occupy())
      const queue = queues[priority]
      return new Promise((resolve, reject) => {
        const abort = () => {
          queue.delete(start)
          reject(signal.reason)
        }
        const start = () => {
          signal.removeEventListener('abort', abort)
          resolve(occupy())
        }
        queue.add(start)
        signal.addEventListener('abort', abort, { once: true })
      })
    },
  }
}
