internal import HTTPServer
internal import Wire

/// Admits the agent of an accepted job to its room.
struct JobAdmissions {
    /// Lifetime of an agent's token, in seconds.
    private static let tokenSeconds: Int64 = 3_600

    let rooms: RoomService
    let tokens: RoomTokenMinter
    let assistants: DefinedAssistants

    /// The reply to a worker that has accepted a job.
    ///
    /// - Parameters:
    ///   - host: the Host header of the worker's channel.
    ///   - homeURL: the URL of the room's node, in a cluster.
    func reply(to job: JobInfo, host: String?, homeURL: String?) throws(HTTPError) -> CallReply {
        let definition = assistants.definition(job.assistant)
        let token = try tokens.jobToken(
            to: job.room, for: job.identity, host: host, homePort: rooms.homePort(of: job.room), homeURL: homeURL,
            name: definition?.name ?? "", lifetimeSeconds: Self.tokenSeconds,
            attributes: [DispatchRegistry.attribute: DispatchRegistry.attributeValue(of: job)])
        return CallReply(job: job, livekitURL: token.url, livekitToken: token.text, assistant: definition)
    }
}

/// The assistants that the gateway defines, and the errors that others get.
struct DefinedAssistants: Sendable {
    /// Assistants that an error names.
    private static let namesMax = 20

    /// An assistant's definition; does not block.
    let definition: @Sendable (String) -> AssistantDefinition?
    /// The ids of all assistants with a definition; does not block.
    let ids: @Sendable () -> [String]

    /// Why a worker is of no use here; nil if it is.
    func refusal(of registration: WorkerRegistration, by assistant: String) -> RequestError? {
        guard registration.needsDefinition == true, definition(assistant) == nil else { return nil }
        return RequestError(.notFound, unknown(assistant))
    }

    /// - Throws: `HTTPError` with status 404 if the gateway knows no such assistant: it has no definition, and had no workers.
    func check(_ assistant: String, _ registry: DispatchRegistry) throws(HTTPError) {
        guard definition(assistant) == nil, !registry.hasHadWorkers(of: assistant) else { return }
        throw HTTPError(.assistantNotFound, unknown(assistant, among: registry.assistantsWithWorkers))
    }

    private func unknown(_ assistant: String, among connected: [String] = []) -> String {
        let known = Set(ids()).union(connected).sorted()
        let names = known.prefix(Self.namesMax).joined(separator: ", ") + (known.count > Self.namesMax ? ", …" : "")
        let remedy = "\(known.isEmpty ? "" : "use one of \(names), or ")define it in `assistants` of the configuration"
        return "there is no assistant \"\(assistant)\"; \(remedy)"
    }
}
