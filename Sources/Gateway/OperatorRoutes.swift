internal import Backend
internal import HTTPServer
internal import HTTPTypes
internal import Identity

/// `/v1/operations…`: the state of a whole node, for operators and the dashboard. Requires the grants needed to end any room.
enum OperatorRoutes {
    static func routes(_ context: GatewayContext) -> [Route] {
        let operators = Access.grant("`roomList` and `roomCreate`", context.keysInUse) { _ in .operate }
        let nodes = OperatorNodes(context)
        let node = RouteParameter.query(
            "node", .text(1...256), "The node of the cluster that answers, by its `node` in the configuration; by default any")
        return [
            Route(
                .get, "/v1/operations",
                "The nodes of a cluster, the worst connections, workers, latencies of assistants, and the latest errors, refusals and ends of "
                    + "rooms and sessions",
                access: operators, parameters: [node], responses: [.json(OperationsView.self), .error(.notFound)]
            ) { [rooms = context.rooms, dispatch = context.dispatch, recent = context.operatorLog.recent] request, _ in
                try nodes.check(request.query("node"))
                var view = await OperationsView(rooms, dispatch, recent)
                if let views = nodes.views { view.show(views, answeredBy: nodes.name) }
                return try .json(view)
            },
            Route(
                .get, "/v1/operations/history", "The metrics that the dashboard plots, over the last hour", access: operators,
                parameters: [.query("after", .count, "Only samples after this time, in milliseconds since 1970"), node],
                responses: [.json(MetricsHistoryView.self), .error(.notFound)]
            ) { [history = context.history] request, _ in
                try nodes.check(request.query("node"))
                return try .json(history.view(after: request.query("after").flatMap { Int64($0) } ?? 0))
            },
        ]
    }
}
