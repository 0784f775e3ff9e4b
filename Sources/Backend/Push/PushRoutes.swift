internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Store

/// `/v1/devices`: the devices that can be woken for calls and summaries. Tokens are never returned.
enum PushRoutes {
    static func routes(_ store: Calls, user: Access<UserID>) -> [Route] {
        return [
            Route(
                .post, "/v1/devices", "Registers a device that is woken for incoming calls and summaries; a known token keeps its id",
                access: user,
                body: NewPushDevice.self, responses: [.json(PushDeviceView.self, status: .created), .storeFull]
            ) { _, user, device in
                let token = SecretText(device.pushToken)
                let registered = try await store.registerPushDevice(
                    device.platform, token: token, alertToken: device.alertToken.map { SecretText($0) }, of: user, at: .now)
                return try .json(PushDeviceView(registered), status: .created)
            },
            Route(
                .get, "/v1/devices", "Lists the user's registered devices, the last registered first", access: user,
                responses: [.json(.array(of: PushDeviceView.schema, atMost: StoreLimits.pushDevicesPerUserMax))]
            ) { _, user in
                try .json(try await store.pushDevices(of: user).map(PushDeviceView.init))
            },
            Route(
                .delete, "/v1/devices/:id", "Removes a registered device", access: user,
                parameters: [.path("id", .uuid, "The device")], responses: [.noContent, .error(.notFound), .storeFull]
            ) { request, user in
                guard let id = PushDeviceID(text: request.parameter("id")) else { throw StoreError.notFound }
                try await store.removePushDevice(id, of: user)
                return .noContent
            },
        ]
    }
}

struct NewPushDevice: Decodable, Sendable, Described {
    var platform: PushDevice.Platform
    var pushToken: String
    var alertToken: String?

    static let schema = Schema.named(
        "NewDevice",
        .object([
            .required("platform", PushDeviceView.platformSchema), .required("push_token", .text(1...4_096)),
            .optional("alert_token", .text(1...4_096)),
        ]))
}

struct PushDeviceView: Encodable, Sendable, Described {
    var id: PushDeviceID
    var platform: PushDevice.Platform
    var registeredAt: WallTime

    init(_ device: PushDevice) {
        id = device.id
        platform = device.platform
        registeredAt = device.registeredAt
    }

    static let platformSchema = Schema.choice(PushDevice.Platform.allCases.map(\.rawValue))
    static let schema = Schema.named(
        "Device",
        .object([.required("id", .uuid), .required("platform", platformSchema), .required("registered_at", .time)]))
}
