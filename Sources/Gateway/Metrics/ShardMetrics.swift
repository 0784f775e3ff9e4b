internal import Backend
internal import Engine
internal import HTTPServer
internal import Sockets
internal import Wire

/// The metrics that each shard counts.
extension ExportedMetric {
    static let connections = [
        perShard(.gauge, "patchbay_connections", "WebSocket connections.") { $0.connections },
        perShard(.counter, "patchbay_connections_turned_away_total", "Connections refused because of the limit.") { $0.loop.turnedAway },
        perShard(.counter, "patchbay_handshakes_abandoned_total", "Connections that ended before a complete request.") {
            $0.loop.handshakesAbandoned
        },
        perShard(.counter, "patchbay_accept_failures_total", "Times a listener paused because descriptors or memory ran out.") {
            $0.loop.acceptFailures
        },
        perShard(
            "patchbay_proxy_headers_refused_total", "Connections closed for their header of the PROXY protocol.",
            by: .init("reason", ProxyHeader.Fault.allCases.map(\.rawValue))
        ) { named($0.loop.proxyHeadersRefused, \.rawValue) },
        perShard(
            .counter, "patchbay_forwarded_for_malformed_total", "Requests with an X-Forwarded-For that is no list of addresses."
        ) { $0.loop.forwardedForMalformed },
        perShard(
            "patchbay_closed_total", "Connections closed by the gateway.", by: .init("code", CloseReason.allCases.map { String($0.code) })
        ) { named($0.closed) { String($0) } },
    ]

    static let rooms = [
        perShard(.gauge, "patchbay_rooms", "Open rooms.") { $0.rooms },
        perShard(.gauge, "patchbay_participants", "Participants in rooms.") { $0.participants },
        perShard(.gauge, "patchbay_participants_away", "Participants without a socket whose session may be resumed.") {
            $0.participantsAway
        },
        perShard(.gauge, "patchbay_devices", "Users' channels.") { $0.channels },
        perShard(.counter, "patchbay_joins_total", "Participants that joined.") { $0.joins },
        perShard("patchbay_joins_refused_total", "Refused upgrades.", by: .init("code", ErrorCode.ofUpgrades.map(\.rawValue))) {
            named($0.joinsRefused)
        },
        perShard("patchbay_join_seconds", "From the upgrade request to hello.") { $0.joinSeconds },
        perShard(
            "patchbay_resumes_total",
            "Attempts to resume a session: refused without one for this token, missed if not everything missed is retained.",
            by: .init("outcome", ResumeOutcome.allCases.map(\.rawValue))
        ) { named($0.resumes, \.rawValue) },
    ]

    static let media =
        [
            perShard(.gauge, "patchbay_tracks", "Published tracks.") { $0.tracks },
            perShard(.gauge, "patchbay_frames_held", "Media frames queued for subscribers.") { $0.framesHeld },
            perShard(.gauge, "patchbay_ahead_tracks", "Tracks of mode ahead that are published or subscribed to on the shard.") {
                $0.aheadTracks
            },
            perShard(.gauge, "patchbay_ahead_bytes_held", "Bytes of those tracks' frames, queued or kept for resume.") {
                $0.aheadBytesHeld
            },
            perShard(.gauge, "patchbay_earlier_tracks", "Microphones whose latest speech is kept for an assistant on its way.") {
                $0.earlierTracks
            },
            perShard(
                "patchbay_earlier_frames_total",
                "Frames kept for assistants on their way, and what became of them: sent to an agent (perhaps to several), replaced by newer "
                    + "ones or too old, or discarded because none came.",
                by: .init("outcome", ["kept", "sent", "replaced", "discarded"])
            ) { counters in
                let earlier = counters.earlier
                return [
                    "kept": Double(earlier.kept), "sent": Double(earlier.sent), "replaced": Double(earlier.replaced),
                    "discarded": Double(earlier.discarded),
                ]
            },
            perShard(.counter, "patchbay_frames_received_total", "Media frames received, including those dropped afterwards.") {
                $0.framesIn
            },
            perShard(.counter, "patchbay_frames_sent_total", "Media frames handed to subscribers' sockets.") { $0.framesOut },
            perShard(.counter, "patchbay_media_messages_sent_total", "Messages that carried those frames.") {
                $0.framesOut - $0.bundledFramesOut + $0.bundlesOut
            },
            perShard(.counter, "patchbay_bundles_sent_total", "Messages of more than one frame.") { $0.bundlesOut },
            perShard(.counter, "patchbay_frame_bytes_received_total", "Bytes of the frames received.") { $0.bytesIn },
            perShard(.counter, "patchbay_frame_bytes_sent_total", "Bytes of the frames sent.") { $0.bytesOut },
            perShard(.counter, "patchbay_frames_queued_total", "Frames that were queued before they were sent.") { $0.framesQueued },
            perShard(
                "patchbay_frames_dropped_total", "Frames that were dropped.", by: .init("reason", DropReason.allCases.map(\.name))
            ) { counters in
                Dictionary(uniqueKeysWithValues: DropReason.allCases.map { ($0.name, Double(counters.dropped[$0.rawValue])) })
            },
            perShard(
                "patchbay_frames_malformed_total", "Binary messages that are not valid frames.",
                by: .init("fault", FrameError.allCases.map(\.rawValue))
            ) { named($0.malformed) },
        ] + renamed(probes, from: "patchbay_receipts_asked_total") + [
            perShard(
                .counter, "patchbay_recording_frames_lost_total",
                "Frames missing from recordings because the disk could not keep up."
            ) { $0.recordingFramesLost }
        ]

    private static let probes = perShard(.counter, "patchbay_probes_sent_total", "Pings sent as delivery probes.") { $0.probesSent }

    static let control =
        [
            perShard(.counter, "patchbay_control_received_total", "Text messages received.") { $0.controlIn },
            perShard(.counter, "patchbay_control_sent_total", "Text messages sent.") { $0.controlOut },
            perShard(
                "patchbay_requests_refused_total", "Refused requests.", by: .init("code", RequestError.Code.words.map(\.description))
            ) { named($0.requestsRefused) },
        ] + renamed(auditEventsLost, from: "patchbay_facts_lost_total") + [
            perShard(
                .counter, "patchbay_mailbox_messages_dropped_total",
                "Messages of other threads that a stuck shard did not read in time; it closes its connections with 4001 afterwards."
            ) { $0.mailboxMessagesDropped },
            perShard("patchbay_loop_lag_seconds", "How late a shard's timer fired.") { $0.loopLagSeconds },
            ExportedMetric(
                metric: Metric(
                    .gauge, "patchbay_shard_busy_ratio",
                    "The share of time for which a shard's thread uses a processor, from 0 to 1, smoothed over about 5 s.", .shard)
            ) { snapshot in
                snapshot.shards.enumerated().map { Sample(labels: [String($0)], value: .number($1.busyRatio)) }
            },
        ]

    private static let auditEventsLost = perShard(
        .counter, "patchbay_audit_events_lost_total", "Room events that did not fit into the queue to the services."
    ) { $0.auditEventsLost }

    static let http = [
        ExportedMetric(
            metric: Metric(
                .counter, "patchbay_http_requests_total", "HTTP requests answered; the route is empty if none matched.", .shard,
                .init("route"), .init("status"))
        ) { snapshot in
            snapshot.shards.enumerated().flatMap { shard, counters in
                counters.http.requests.sorted { ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status) }.map {
                    Sample(labels: [String(shard), $0.key.route, String($0.key.status)], value: .number(Double($0.value)))
                }
            }
        },
        perShard("patchbay_http_route_seconds_total", "Total time from the complete request to its response.", by: .init("route")) {
            $0.http.secondsOfRoute
        },
        perShard("patchbay_http_refused_total", "Refused HTTP requests.", by: .init("code")) { named($0.httpRefused) },
        perShard("patchbay_http_seconds", "From the complete HTTP request to its response.") { $0.http.seconds },
    ]

    private static func renamed(_ metric: ExportedMetric, from old: String) -> [ExportedMetric] { [metric, metric.formerly(old)] }

    private static func named<Key>(_ counts: [Key: UInt64], _ name: (Key) -> String) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: counts.map { (name($0), Double($1)) })
    }

    private static func named(_ counts: [String: UInt64]) -> [String: Double] { counts.mapValues { Double($0) } }
}
