internal import Engine
package import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Wire

/// `/v1/rooms/:room/agents`: the jobs of a room. Each route needs `roomAdmin` for the room, or `roomCreate`.
package enum DispatchRoutes {
    package static func routes(_ dispatch: DispatchService, keys: KeysInUse) -> [Route] {
        let dispatcher = Access.grant("`roomAdmin` or `roomCreate`", keys) { .dispatch(room: $0.parameter("room")) }
            .checking { try await dispatch.checkIsHere() }
        let room = RouteParameter.path("room", .text(1...ProtocolLimits.roomNameBytesMax), "The room's name")
        return [
            Route(
                .post, "/v1/rooms/:room/agents", "Sends an assistant to a room, which need not be open; at most one job per assistant",
                access: dispatcher, parameters: [room], body: AgentDispatchBody.self,
                responses: [
                    .json(JobView.self, status: .created), .json(JobView.self), .error(.badRequest), .error(.notFound),
                    .error(.tooManyRequests), .error(.serviceUnavailable),
                ]
            ) { request, _, body in
                let job = JobRequest(
                    room: request.parameter("room"), assistant: body.assistant, metadata: body.metadata ?? "", reason: .request,
                    trace: request.context.trace?.withNewSpan)
                let (created, isNew) = try await dispatch.createOnRequest(job)
                return try .json(JobView(job: created), status: isNew ? .created : .ok)
            },
            Route(
                .get, "/v1/rooms/:room/agents", "Lists the jobs of a room, up to two minutes after their end", access: dispatcher,
                parameters: [room], responses: [.json(JobList.self)]
            ) { request, _ in
                try .json(JobList(jobs: await dispatch.jobs(in: request.parameter("room"))))
            },
            Route(
                .delete, "/v1/rooms/:room/agents/:job", "Ends a job and removes its assistant from the room", access: dispatcher,
                parameters: [room, .path("job", .text(1...64), "The job")], responses: [.json(JobView.self), .error(.notFound)]
            ) { request, _ in
                let job = JobID(text: request.parameter("job"))
                return try .json(JobView(job: try await dispatch.cancel(job, in: request.parameter("room"))))
            },
        ]
    }
}

struct AgentDispatchBody: Decodable, Sendable, Described {
    var assistant: String
    var metadata: String?

    static let schema = Schema.named(
        "AgentDispatch",
        .object([
            .required("assistant", .text(1...ProtocolLimits.identityBytesMax)),
            .optional("metadata", .text(0...ProtocolLimits.jobMetadataBytesMax)),
        ]))
}

extension JobInfo: Described {
    package static let schema = Schema.named(
        "Job",
        .object([
            .required("id", .text(1...64)), .required("room", .text), .required("assistant", .text), .required("metadata", .text),
            .required("reason", .choice(JobReason.allCases.map(\.rawValue))), .optional("call", .text(1...64)),
            .required("status", .choice(JobStatus.allCases.map(\.rawValue))), .required("attempt", .count), .optional("error", .text),
            .optional("traceparent", .text(55...55)),
        ]))
}

struct JobView: Encodable, Sendable, Described {
    var job: JobInfo

    static let schema = Schema.named("JobReply", .object([.required("job", JobInfo.schema)]))
}

struct JobList: Encodable, Sendable, Described {
    var jobs: [JobInfo]

    static let schema = Schema.named("JobList", .object([.required("jobs", .array(of: JobInfo.schema))]))
}

/// A rule of the configuration: rooms with matching names get an assistant when they open.
package struct DispatchRule: Sendable, Hashable {
    /// A room name in which each `*` stands for any text.
    package var room: String
    package var assistant: String

    package init(room: String, assistant: String) {
        self.room = room
        self.assistant = assistant
    }

    package func matches(_ name: String) -> Bool {
        let parts = room.split(separator: "*", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return name == room }
        guard name.hasPrefix(first) else { return false }
        var rest = name.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
