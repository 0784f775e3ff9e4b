internal import Backend
internal import HTTPServer
internal import HTTPTypes
internal import Identity

/// `/v1/operations…`: the state of the whole gateway, for operators and the dashboard. Requires the grants needed to end any room.
enum OperatorRoutes {
    static func routes(_ context: GatewayContext) -> [Route] {
        let operators = Access.grant("`roomList` and `roomCreate`", context.keysInUse) { _ in .operate }
        return [
            Route(
                .get, "/v1/operations",
                "The worst connections, workers, latencies of assistants, and the latest errors, refusals and ends of rooms and sessions",
                access: operators, responses: [.json(OperationsView.self)]
            ) { [rooms = context.rooms, dispatch = context.dispatch, recent = context.operatorLog.recent] _, _ in
                try .json(await OperationsView(rooms, dispatch, recent))
            },
            Route(
                .get, "/v1/operations/history", "The metrics that the dashboard plots, over the last hour", access: operators,
                parameters: [.query("after", .count, "Only samples after this time, in milliseconds since 1970")],
                responses: [.json(MetricsHistoryView.self)]
            ) { [history = context.history] request, _ in
                try .json(history.view(after: request.query("after").flatMap { Int64($0) } ?? 0))
            },
        ]
    }
}
