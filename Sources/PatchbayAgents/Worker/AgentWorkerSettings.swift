public import PatchbayClient

/// How a worker serves.
public struct AgentWorkerSettings: Sendable {
    /// The gateway, `wss://host[:port]`.
    public var url: String
    /// The assistant's id, as in the token without `assistant:`.
    public var assistant: String
    /// Jobs at once, 1 to 1,000.
    public var capacity: Int
    /// For the channel and for the rooms of jobs.
    public var options: RoomOptions
    /// How long `drain()` waits for running jobs.
    public var drainTimeout: Duration
    /// The load of the process, 0 to 1. Nil: its CPU time. The part of the capacity in use counts if it is higher.
    public var measureLoad: (@Sendable () -> Double)?

    public init(
        url: String, assistant: String, capacity: Int = 10, options: RoomOptions = RoomOptions(), drainTimeout: Duration = .seconds(600),
        measureLoad: (@Sendable () -> Double)? = nil
    ) {
        self.url = url
        self.assistant = assistant
        self.capacity = capacity
        self.options = options
        self.drainTimeout = drainTimeout
        self.measureLoad = measureLoad
    }
}
