#pragma once

namespace crocoddyl {

struct DataCollectorAbstract {
    virtual ~DataCollectorAbstract() = default;
};

} // namespace crocoddyl
