public import PatchbayClient
public import Wire

/// A job that this worker has accepted: join the room, and leave it when the conversation is over.
public struct AgentJob: Sendable {
    public let id: JobID
    /// The room's name.
    public let room: String
    public let url: String
    /// A room token of kind `agent`, valid for an hour. Each attempt of a job has its own, and an earlier one is refused.
    public let token: String
    /// Chosen by whoever asked for the assistant.
    public let metadata: String
    /// Why the assistant was dispatched.
    public let reason: JobReason
    /// The call to which it was called. Joining the room answers the call.
    public let call: CallID?
    /// 1, or more if other workers had the job before.
    public let attempt: Int
    /// The assistant's id.
    public let assistantID: String
    /// Nil if the gateway has no definition of it.
    public let assistant: AssistantDefinition?
    /// The worker's options for connections.
    public let options: RoomOptions
    private let turns: TurnReports

    /// - Parameter turns: takes the metrics of the job's turns.
    /// - Returns: nil if the reply lacks the URL or the token.
    init?(_ reply: CallReply, options: RoomOptions, turns: TurnReports) {
        guard let job = reply.job, let url = reply.livekitUrl, let token = reply.livekitToken else { return nil }
        id = job.id
        room = job.room
        self.url = url
        self.token = token
        metadata = job.metadata
        reason = job.reason
        call = job.call
        attempt = job.attempt
        assistantID = job.assistant
        assistant = reply.assistant
        self.options = options
        self.turns = turns
    }

    /// Joins the room.
    public func connect() async throws(ConnectError) -> RoomConnection {
        try await RoomConnection.connect(url: url, token: token, options: options)
    }

    /// Reports the metrics of a turn, which the gateway adds to its `/metrics`. Does not wait; metrics that the gateway does not get are lost.
    public func report(_ turn: TurnMetrics) {
        turns.append(turn)
    }
}

extension AgentJob: CustomStringConvertible {
    /// Without the token.
    public var description: String { "\(id) (\(assistantID) in \(room), attempt \(attempt))" }
}
