/** Calls somebody else's listener. What it throws is not our failure, and nothing of ours may depend on it. */
export function tell<T>(listener: (news: T) => void, news: T): void {
  try {
    listener(news)
  } catch (error) {
    // But somebody has to hear of it.
    queueMicrotask(() => {
      throw error
    })
  }
}
