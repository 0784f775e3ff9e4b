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
    /// Whether the worker is of use only if the gateway defines the assistant. If it does not, `AgentWorker.run()` fails with an error that
    /// names the assistants that it defines.
    public var needsDefinition: Bool

    public init(
        url: String, assistant: String, capacity: Int = 10, options: RoomOptions = RoomOptions(), drainTimeout: Duration = .seconds(600),
        measureLoad: (@Sendable () -> Double)? = nil, needsDefinition: Bool = false
    ) {
        self.url = url
        self.assistant = assistant
        self.capacity = capacity
        self.options = options
        self.drainTimeout = drainTimeout
        self.measureLoad = measureLoad
        self.needsDefinition = needsDefinition
    }
}
