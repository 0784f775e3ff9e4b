internal import Engine
internal import HTTPServer
internal import Identity
internal import LiveKitProtocol
internal import Wire

/// LiveKit's AgentDispatchService, on the gateway's jobs: a dispatch is a job. An assistant has at most one active job per room, so a
/// repeated request returns the dispatch that exists.
struct AgentDispatchMethods: Sendable {
    let dispatch: DispatchService
    let service: TwirpService

    var routes: [Route] {
        [
            service.method(
                "CreateDispatch", "Sends an assistant to a room, which need not be open", RoomServiceMethods.administer,
                limits: Self.checkLimits, grant: { .administer(room: $0.room) }, perform: create),
            service.method(
                "DeleteDispatch", "Ends a job and removes its assistant from the room", RoomServiceMethods.administer,
                grant: { (request: LiveKitDeleteAgentDispatchRequest) in .administer(room: request.room) }
            ) { [dispatch] request, _ in
                guard let job = try? await dispatch.cancel(JobID(text: request.dispatchID), in: request.room) else {
                    throw TwirpError(.notFound, "dispatch ID not found")
                }
                return LiveKitAgentDispatch(job, dispatch.times(of: job.id))
            },
            service.method(
                "ListDispatch", "Lists the jobs of a room, up to two minutes after their end", RoomServiceMethods.administer,
                grant: { .administer(room: $0.room) }, perform: list),
        ]
    }

    private static func checkLimits(_ request: LiveKitCreateAgentDispatchRequest) throws(TwirpError) {
        guard request.metadata.utf8.count <= ProtocolLimits.jobMetadataBytesMax else {
            throw TwirpError(
                argument: "metadata", "metadata size exceeds limits: that of a job has at most \(ProtocolLimits.jobMetadataBytesMax) bytes")
        }
    }

    private func create(_ request: LiveKitCreateAgentDispatchRequest, _ http: HTTPServerRequest) async throws -> LiveKitAgentDispatch {
        guard 1...ProtocolLimits.identityBytesMax ~= request.agentName.utf8.count else {
            throw TwirpError(argument: "agent_name", "name an assistant, in at most \(ProtocolLimits.identityBytesMax) bytes")
        }
        guard request.room.utf8.count <= ProtocolLimits.roomNameBytesMax else {
            throw TwirpError(argument: "room", "a room name has at most \(ProtocolLimits.roomNameBytesMax) bytes")
        }
        let job = JobRequest(
            room: request.room, assistant: request.agentName, metadata: request.metadata, reason: .request,
            trace: http.context.trace?.withNewSpan)
        let created = try await dispatch.createOnRequest(job).job
        return LiveKitAgentDispatch(created, dispatch.times(of: created.id))
    }

    /// As in LiveKit with the dispatch's id, or without for all. A room that is not open may have jobs too.
    private func list(_ request: LiveKitListAgentDispatchRequest, _: HTTPServerRequest) async -> LiveKitListAgentDispatchResponse {
        let jobs = await dispatch.jobs(in: request.room)
        var response = LiveKitListAgentDispatchResponse()
        response.agentDispatches = jobs.filter { request.dispatchID.isEmpty || $0.id.text == request.dispatchID }
            .map { LiveKitAgentDispatch($0, dispatch.times(of: $0.id)) }
        return response
    }
}
