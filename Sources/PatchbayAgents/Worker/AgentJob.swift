public import PatchbayClient
public import Wire

/// A job that this worker has accepted: join the room, and leave it when the conversation is over.
@dynamicMemberLookup
public struct AgentJob: Sendable {
    public let info: JobInfo
    public let url: String
    /// A room token of kind `agent`, valid for an hour. Each attempt of a job has its own, and an earlier one is refused.
    public let token: String
    /// Nil if the gateway has no definition of it.
    public let assistant: AssistantDefinition?
    /// The worker's options for connections.
    public let options: RoomOptions
    private let turns: TurnReports

    /// - Parameter turns: takes the metrics of the job's turns.
    /// - Returns: nil if the reply lacks the URL or the token.
    init?(_ reply: CallReply, options: RoomOptions, turns: TurnReports) {
        guard let job = reply.job, let url = reply.livekitUrl, let token = reply.livekitToken else { return nil }
        (info, self.url, self.token, assistant) = (job, url, token, reply.assistant)
        (self.options, self.turns) = (options, turns)
    }

    /// The room's name, the call to which the assistant was called, and so on.
    public subscript<Value>(dynamicMember path: KeyPath<JobInfo, Value>) -> Value { info[keyPath: path] }

    public var assistantID: String { info.assistant }

    /// Joins the room, which answers the job's call.
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
    public var description: String { "\(info.id) (\(assistantID) in \(info.room), attempt \(info.attempt))" }
}
